import fc from 'fast-check';
import { rootCertificates } from 'node:tls';
import { generate } from 'selfsigned';
import { describe, expect, it } from 'vitest';
import { clientKeyFault, clientKeyOf, tlsFault, tlsOf } from './tls.js';

const [ONE = '', TWO = ''] = rootCertificates;
const of = (...pairs: [string, unknown][]) => new Map(pairs);

describe('the TLS of a bind', () => {
  it.each([
    [of(['enabled', false])],
    [of(['enabled', true], ['serverName', 'smpp.north.example'])],
    [of(['caCertificate', ONE], ['enabled', true])],
    [of(['enabled', true], ['caCertificate', `The first\n${ONE}\nthe second\n${TWO}\n`])],
  ])('may be %#', (tls) => {
    expect(tlsFault(tls)).toBeNull();
    expect(tlsOf(tls)).toEqual(Object.fromEntries(tls));
  });

  it.each<[Map<string, unknown>, string]>([
    [of(), 'enabled'],
    [of(['enabled', null]), 'enabled'],
    [of(['enabled', true], ['caCertificate', '']), 'caCertificate'],
    [of(['enabled', true], ['caCertificate', ONE.slice(0, 200)]), 'caCertificate'],
    [of(['enabled', true], ['caCertificate', ONE.replace(/[A-Za-z]{40}/, 'A'.repeat(40))]), 'caCertificate'],
    [of(['enabled', true], ['caCertificate', ONE.replaceAll('CERTIFICATE', 'PRIVATE KEY')]), 'caCertificate'],
    [of(['enabled', true], ['caCertificate', ONE.repeat(60)]), 'caCertificate'],
    [of(['enabled', true], ['serverName', 'a b']), 'serverName'],
    [of(['enabled', true], ['clientCertificate', 'PEM']), 'clientCertificate'],
    [of(['enabled', true], ['clientCertificate', ONE], ['clientKey', ONE]), 'clientKey'],
    [of(['enabled', true], ['clientKey', null]), 'clientKey'],
    [of(['enabled', true], ['key', ONE]), 'key'],
  ])('has its fault (%#) in the named member', (tls, member) => expect(tlsFault(tls)).toBe(member));

  it.each([null, true, [], {}, 'on'])('is an object, not %j', (value) => expect(tlsFault(value)).toBeUndefined());

  it('is checked whatever the content of a certificate', () => {
    const pem = fc.base64String().map((text) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----`);
    fc.assert(
      fc.property(fc.oneof(pem, fc.string()), (caCertificate) => {
        expect(tlsFault(of(['enabled', true], ['caCertificate', caCertificate]))).toBe('caCertificate');
      }),
    );
  });
});

describe('a client certificate', () => {
  it('is stored without its key, and needs the key that belongs to it', async () => {
    const ours = await generate([{ name: 'commonName', value: 'us' }]);
    const other = await generate([{ name: 'commonName', value: 'other' }]);
    const tls = of(['enabled', true], ['clientCertificate', ours.cert], ['clientKey', ours.private]);
    expect(tlsFault(tls)).toBeNull();
    expect(tlsOf(tls)).toEqual({ enabled: true, clientCertificate: ours.cert });
    expect(clientKeyOf(tls)).toBe(ours.private);
    expect(clientKeyFault(ours.cert, ours.private)).toBeNull();
    expect(clientKeyFault(undefined, null)).toBeNull();
    expect(clientKeyFault(ours.cert, other.private)?.field).toBe('tls.clientKey');
    expect(clientKeyFault(ours.cert, null)?.field).toBe('tls.clientKey');
    expect(clientKeyFault(undefined, ours.private)?.field).toBe('tls.clientCertificate');
  });

  it('has a key without a passphrase', async () => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'us' }], { passphrase: 'secret' });
    expect(tlsFault(of(['enabled', true], ['clientCertificate', cert], ['clientKey', key]))).toBe('clientKey');
  });
});
