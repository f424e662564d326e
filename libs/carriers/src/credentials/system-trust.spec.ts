import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { isNarrowNetwork, isTrustedConnection, lacksTrustProof, trustProofOf } from './system-trust.js';

const bitsOf = (low: number, high: number): fc.Arbitrary<number> => fc.integer({ min: low, max: high });

describe('a narrow network', () => {
  it('has at least 16 bits of prefix in IPv4, and 32 in IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), bitsOf(0, 32), (address, bits) => {
        expect(isNarrowNetwork(`${address}/${bits}`)).toBe(bits >= 16);
      }),
    );
    fc.assert(
      fc.property(fc.ipV6(), bitsOf(0, 128), (address, bits) => {
        fc.pre(!/^[0:]*(:|$)/.test(address));
        expect(isNarrowNetwork(`${address}/${bits}`)).toBe(bits >= 32);
      }),
    );
  });

  it.each(['::ffff:', '64:ff9b::'])('is as narrow when written in IPv6 after %s', (prefix) => {
    fc.assert(
      fc.property(fc.ipV4(), bitsOf(0, 32), (address, bits) => {
        expect(isNarrowNetwork(`${prefix}${address}/${96 + bits}`)).toBe(bits >= 16);
      }),
    );
  });

  it('never contains two IPv4 addresses that differ in their first 16 bits', () => {
    const network = fc.oneof(
      fc.tuple(fc.ipV4(), bitsOf(0, 32)),
      fc.tuple(fc.oneof(fc.ipV6(), fc.constant('::ffff:192.0.2.7'), fc.constant('::')), bitsOf(0, 128)),
    );
    fc.assert(
      fc.property(network, fc.ipV4(), fc.ipV4(), ([address, bits], one, other) => {
        fc.pre(one.split('.').slice(0, 2).join() !== other.split('.').slice(0, 2).join());
        const cidr = ipaddr.parseCIDR(`${address}/${bits}`);
        const holds = (text: string): boolean => {
          const ip = ipaddr.IPv4.parse(text);
          return cidr[0] instanceof ipaddr.IPv4
            ? ip.match(cidr[0], cidr[1])
            : ip.toIPv4MappedAddress().match(cidr[0], cidr[1]);
        };
        fc.pre(holds(one) && holds(other));
        expect(isNarrowNetwork(`${address}/${bits}`)).toBe(false);
      }),
      { numRuns: 20, maxSkipsPerRun: 2_000 },
    );
  });

  it('is decided for any text', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f.:/%]{0,40}$/));
    fc.assert(
      fc.property(text, (sent) => {
        const narrow = isNarrowNetwork(sent);
        if (narrow) expect(ipaddr.isValid(sent) || ipaddr.isValidCIDR(sent)).toBe(true);
      }),
    );
  });

  it.each([
    '::/0',
    '::/32',
    '::/80',
    '::ffff:0:0/96',
    '64:ff9b::/32',
    '64:ff9b::/96',
    '0.0.0.0/0',
    '10.0.0.0/33',
    'x',
    '',
  ])('is not %j', (text) => expect(isNarrowNetwork(text)).toBe(false));
  it.each(['192.0.2.7', '::1', '::1/128', '127.0.0.0/16', '2001:db8::/32', '64:ff9b:1::/48'])('is %s', (text) =>
    expect(isNarrowNetwork(text)).toBe(true),
  );
});

describe('trust', () => {
  const terms = { systemId: 'north', trustedForMo: true, allowedCidrs: ['192.0.2.0/24'], tlsRequired: false };
  const wide = { ...terms, allowedCidrs: ['192.0.2.0/24', '10.0.0.0/8'] };

  it.each([
    ['address', terms],
    ['address', { ...terms, tlsRequired: true }],
    ['certificate', { ...wide, tlsRequired: true }],
    ['certificate', { ...terms, allowedCidrs: [], tlsRequired: true }],
    [null, wide],
    [null, { ...terms, allowedCidrs: [] }],
  ])('is proven by %s', (proof, some) => {
    expect(trustProofOf(some)).toBe(proof);
    expect(lacksTrustProof(some)).toBe(proof === null);
    expect(lacksTrustProof({ ...some, trustedForMo: false })).toBe(false);
  });

  it.each([
    [true, terms, null],
    [false, { ...terms, trustedForMo: false }, ['north']],
    [false, wide, ['north']],
    [true, { ...wide, tlsRequired: true }, ['south', 'north']],
    [false, { ...wide, tlsRequired: true }, ['south']],
    [false, { ...wide, tlsRequired: true }, null],
  ])('is %s for a connection: %j, with a certificate of %j', (trusted, some, names) => {
    expect(isTrustedConnection(some, names)).toBe(trusted);
  });
});
