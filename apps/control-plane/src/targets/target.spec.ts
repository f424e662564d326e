import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TargetRules } from './target.js';

const strict = new TargetRules({ allowedCidrs: [], allowHttp: false });
/** The most permissive policy of an operator. */
const anywhere = new TargetRules({ allowedCidrs: ['0.0.0.0/0', '::/0'], allowHttp: true });
const demo = new TargetRules({ allowedCidrs: ['127.0.0.0/8', '::1/128'], allowHttp: true });

describe('a webhook URL', () => {
  it.each([
    'https://example.com',
    'https://example.com:8443/hooks?a=b',
    'https://EXAMPLE.com/ä',
    'https://93.184.215.14/',
    'https://[2606:4700::1111]/hook',
    'https://localhost/hook',
    `https://example.com/${'a'.repeat(2048 - 20)}`,
    `https://${'a.'.repeat(126)}b/`,
    `https://${'a.'.repeat(126)}b./`,
  ])('%s is allowed', (url) => {
    expect(strict.check(url).ok).toBe(true);
  });

  it.each([
    '',
    'example.com',
    '//example.com',
    '/hook',
    'https://',
    'https:///hook',
    'http://example.com/',
    'ftp://example.com/',
    'javascript:alert(1)',
    'data:text/plain,x',
    'file:///etc/passwd',
    'https://user@example.com/',
    'https://user:pass@example.com/',
    'https://@example.com/',
    'https://:@example.com/',
    'https://example.com/#part',
    'https://example.com/#',
    ' https://example.com/',
    'https://example.com/ ',
    'https://exa\tmple.com/',
    'https://example.com\n/',
    'https://example.com\\@127.0.0.1/',
    'https://exa mple.com/',
    'https://example.com:99999/',
    `https://example.com/${'a'.repeat(2048)}`,
    `https://example.com/${'ä'.repeat(500)}`,
    `https://${'a.'.repeat(126)}bc/`,
    `https://${'ä.'.repeat(100)}example/`,
  ])('%j is refused', (url) => {
    expect(strict.check(url).ok).toBe(false);
  });

  it.each([
    '127.0.0.1',
    '127.1',
    '127.0.0.1.',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '0177.0.0.1',
    '１２７.0.0.1',
    '127。0。0。1',
    '0',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:8.8.8.8]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::1]',
    '[2002:7f00:1::]',
    '[2001::1]',
    '[2001:db8::1]',
    '[fe80::1]',
    '[fe80::1%25eth0]',
    '[fc00::1]',
    '[fd12:3456::1]',
    '[ff02::1]',
    '[100::1]',
    '[::127.0.0.1]',
    '[::a00:1]',
    '[4000::1]',
    '017700000001',
    '0x7f.0x0.0x0.0x1',
    '0300.0250.1.1',
    '%31%32%37.0.0.1',
    '①②⑦.0.0.1',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::10.0.0.1]',
    '[2002:a00:1::]',
    '[fec0::1]',
    '[::1%25lo]',
    '[::ffff:0xa00:1]',
  ])('may not point to %s', (host) => {
    expect(strict.check(`https://${host}/`).ok).toBe(false);
  });

  it.each([
    ['Azure WireServer', '168.63.129.16'],
    ['Azure WireServer as one number', '2822734096'],
    ['Azure WireServer in octal', '0250.077.0201.020'],
    ['Azure WireServer in IPv6', '[::ffff:168.63.129.16]'],
    ['Azure WireServer by NAT64', '[64:ff9b::168.63.129.16]'],
    ['AWS, Google, Azure and others', '169.254.169.254'],
    ['the credentials of ECS tasks', '169.254.170.2'],
    ['the credentials of EKS pods', '169.254.170.23'],
    ['Tencent', '169.254.0.23'],
    ['Scaleway', '169.254.42.42'],
    ['AWS over IPv6', '[fd00:ec2::254]'],
    ['the credentials of EKS pods over IPv6', '[fd00:ec2::23]'],
    ['Google over IPv6', '[fd20:ce::254]'],
    ['Oracle over IPv6', '[fd00:c1::a9fe:a9fe]'],
    ['Scaleway over IPv6', '[fd00:42::42]'],
    ['Azure over IPv6', '[fe80::1234:5678:9abc]'],
    ['Oracle, formerly', '192.0.0.192'],
    ['Alibaba', '100.100.100.200'],
  ])('of the metadata service of %s is refused, whatever the operator allows', (_cloud, host) => {
    expect(strict.check(`https://${host}/`).ok).toBe(false);
    expect(anywhere.check(`https://${host}/`).ok).toBe(false);
    expect(anywhere.check(`http://${host}/latest/meta-data/`).ok).toBe(false);
  });

  it('with an address next to those is allowed', () => {
    expect(strict.check('https://168.63.129.15/').ok).toBe(true);
    for (const host of ['100.100.100.201', '192.0.0.193', '[fd00:ec3::254]', '10.0.0.1']) {
      expect(anywhere.check(`http://${host}/`).ok, host).toBe(true);
    }
  });

  it.each([
    ['', true],
    [':443', true],
    [':80', true],
    [':1024', true],
    [':3000', true],
    [':8080', true],
    [':8443', true],
    [':9000', true],
    [':32768', true],
    [':65535', true],
    [':0', false],
    [':1', false],
    [':21', false],
    [':22', false],
    [':23', false],
    [':25', false],
    [':53', false],
    [':110', false],
    [':389', false],
    [':445', false],
    [':465', false],
    [':587', false],
    [':853', false],
    [':993', false],
    [':1023', false],
    [':1433', false],
    [':2375', false],
    [':2376', false],
    [':2379', false],
    [':2775', false],
    [':3306', false],
    [':3389', false],
    [':5060', false],
    [':5432', false],
    [':6379', false],
    [':06379', false],
    [':6443', false],
    [':6667', false],
    [':9200', false],
    [':10250', false],
    [':11211', false],
    [':27017', false],
  ])('with the port "%s" is allowed: %s', (port, allowed) => {
    expect(strict.check(`https://example.com${port}/hook`).ok).toBe(allowed);
    // The same holds in a private network that an operator has allowed.
    expect(anywhere.check(`http://10.0.0.1${port}/hook`).ok).toBe(allowed);
  });

  it('with an allowed loopback address may have any port', () => {
    for (const url of [
      'http://127.0.0.1:1/',
      'https://localhost:22/',
      'http://[::1]:6379/',
      'http://127.0.0.1:5432/',
    ]) {
      expect([demo.check(url).ok, strict.check(url).ok], url).toEqual([true, false]);
    }
  });

  it('may be private or plain http only in ranges that the operator allows', () => {
    expect(demo.check('http://127.0.0.1:9000/hook').ok).toBe(true);
    expect(demo.check('https://127.0.0.1/hook').ok).toBe(true);
    expect(demo.check('http://[::1]/hook').ok).toBe(true);
    expect(demo.check('https://10.0.0.1/').ok).toBe(false);
    expect(demo.check('http://93.184.215.14/').ok).toBe(false);
    expect(demo.check('https://93.184.215.14/').ok).toBe(true);
    const privateHttps = new TargetRules({ allowedCidrs: ['10.0.0.0/8'], allowHttp: false });
    expect(privateHttps.check('https://10.0.0.1/').ok).toBe(true);
    expect(privateHttps.check('http://10.0.0.1/').ok).toBe(false);
  });

  it('is checked without an exception, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => typeof strict.check(`https://${text}`).ok === 'boolean'),
    );
  });

  it('is refused if its literal address is not admitted', () => {
    fc.assert(
      fc.property(fc.ipV4Extended(), (host) => {
        const check = strict.check(`https://${host}/`);
        if (check.ok) expect(strict.admits(check.url.hostname, 'https:')).toBe(true);
      }),
    );
  });
});

describe('the address of a connection', () => {
  it('must be public unicast', () => {
    expect(strict.admits('93.184.215.14', 'https:')).toBe(true);
    expect(strict.admits('93.184.215.14', 'http:')).toBe(false);
    for (const address of ['127.0.0.1', '::1', '::ffff:10.0.0.1', '10.0.0.1', '', 'localhost']) {
      expect(strict.admits(address, 'https:')).toBe(false);
    }
  });

  it('may lie in a range that the operator allowed, also as an IPv4-mapped IPv6 address', () => {
    expect(demo.admits('127.0.0.1', 'http:')).toBe(true);
    expect(demo.admits('::ffff:127.0.0.1', 'https:')).toBe(true);
    expect(demo.admits('93.184.215.14', 'http:')).toBe(false);
  });

  it('is never a metadata service of a cloud', () => {
    for (const address of [
      '168.63.129.16',
      '::ffff:168.63.129.16',
      '169.254.169.254',
      'fd00:ec2::254',
      '100.100.100.200',
    ]) {
      expect(anywhere.admits(address, 'https:'), address).toBe(false);
    }
  });
});
