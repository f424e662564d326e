import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { networkOf } from './networks.js';

describe('a network', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['192.0.2.7', '192.0.2.7/32'],
    ['2001:db8::/32', '2001:db8::/32'],
    ['::1', '::1/128'],
  ])('%s is %s', (text, network) => expect(networkOf(text)).toBe(network));

  it.each([
    '',
    '10/8',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '010.0.0.0/8',
    '1.2.3',
    'fe80::1%eth0',
    'x',
    ' 10.0.0.0/8',
    '::/129',
  ])('%j is no network', (text) => expect(networkOf(text)).toBeNull());

  it('can be parsed again', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.ipV4Extended(),
      fc.ipV6(),
      fc.stringMatching(/^[0-9a-f.:/%]+$/),
    );
    fc.assert(
      fc.property(text, (sent) => {
        const network = networkOf(sent);
        if (network !== null) expect(ipaddr.isValidCIDR(network)).toBe(true);
      }),
    );
  });
});
