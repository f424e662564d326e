import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonObject } from '../../http/json-body.js';
import { hostsFault, hostsOf, isHost } from './hosts.js';

/** A list as it occurs in a body. */
const sent = (hosts: unknown): unknown => {
  const body = parseJsonObject(Buffer.from(JSON.stringify({ hosts })));
  return body.ok ? body.value.get('hosts') : undefined;
};

describe('a host', () => {
  it.each([
    'localhost',
    'a',
    'smsc.north.example',
    'SMSC-1.example',
    'smsc_1.internal',
    '192.0.2.1',
    '::1',
    '2001:db8::1',
  ])('may be %s', (text) => expect(isHost(text)).toBe(true));

  it.each([
    '',
    ' ',
    'a b',
    '-a.example',
    'a-.example',
    'a..b',
    '.a',
    'a.',
    '300.0.0.1',
    '1.2.3',
    '[::1]',
    '169.254.169.254',
    '::ffff:169.254.169.254',
    'fd00:ec2::254',
    'fe80::1',
    'a:2775',
    'ä.example',
    'a\n',
    `${'a'.repeat(64)}.example`,
    5,
    null,
  ])('may not be %j', (value) => expect(isHost(value)).toBe(false));
});

describe('hosts', () => {
  it.each([
    [[{ host: 'a.example', port: 1 }], null],
    [[{ port: 65_535, host: '::1' }], null],
    [[], undefined],
    [{}, undefined],
    ['a.example:2775', undefined],
    [Array.from({ length: 17 }, () => ({ host: 'a', port: 1 })), undefined],
    [['a'], '0'],
    [[null], '0'],
    [[[]], '0'],
    [[{ host: 'a' }], '0.port'],
    [[{ port: 1 }], '0.host'],
    [
      [
        { host: 'a', port: 1 },
        { host: 'a', port: 1, name: 0 },
      ],
      '1.name',
    ],
  ])('%j have their first fault at %s', (hosts, fault) => expect(hostsFault(sent(hosts))).toBe(fault));

  it('without a fault are stored as sent, and nothing else throws', () => {
    const host = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6(), fc.string());
    const one = fc.oneof(fc.record({ host, port: fc.integer({ min: -1, max: 70_000 }) }), fc.jsonValue());
    fc.assert(
      fc.property(fc.oneof(fc.array(one, { maxLength: 4 }), fc.jsonValue()), (hosts) => {
        const read = sent(hosts);
        if (hostsFault(read) !== null || !Array.isArray(read)) return;
        expect(hostsOf(read)).toEqual(hosts);
      }),
    );
  });
});
