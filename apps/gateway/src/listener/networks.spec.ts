import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { areRestricting, isAllowedAddress, NetworkSet, peerNetwork } from './networks.js';

describe('allowed addresses', () => {
  it.each([
    ['192.0.2.7', [], true],
    ['192.0.2.7', ['192.0.2.0/24'], true],
    ['::ffff:192.0.2.7', ['192.0.2.0/24'], true],
    ['192.0.3.7', ['192.0.2.0/24'], false],
    ['2001:db8::5', ['192.0.2.0/24', '2001:db8::/32'], true],
    ['2001:db9::5', ['2001:db8::/32'], false],
    ['192.0.2.7', ['192.0.2.7'], true],
    ['192.0.2.8', ['192.0.2.7'], false],
    ['2001:db8::5', ['2001:db8::5'], true],
    ['192.0.2.7', ['::/0'], false],
    ['192.0.2.7', ['not a network'], false],
    ['not an address', ['0.0.0.0/0'], false],
  ])('%s in %j: %s', (address, cidrs, allowed) => {
    expect(isAllowedAddress(address, cidrs)).toBe(allowed);
  });
});

describe('the network set', () => {
  it('includes every address when one list is empty', () => {
    expect(NetworkSet.of([['192.0.2.0/24'], []]).includes('198.51.100.1')).toBe(true);
  });

  it('includes no address when there is no list', () => {
    expect(NetworkSet.of([]).includes('127.0.0.1')).toBe(false);
  });

  it('includes an address exactly when one list does', () => {
    const cidr = fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([ip, bits]) => `${ip}/${bits}`);
    const lists = fc.array(fc.array(cidr, { minLength: 1, maxLength: 3 }), { maxLength: 4 });
    fc.assert(
      fc.property(lists, fc.ipV4(), (all, address) => {
        const some = all.some((list) => isAllowedAddress(address, list));
        expect(NetworkSet.of(all).includes(address)).toBe(some);
      }),
    );
  });

  it('accepts any text as an address', () => {
    fc.assert(
      fc.property(fc.string(), (address) => {
        expect(NetworkSet.of([['::/0']]).includes(address)).toBeTypeOf('boolean');
      }),
    );
  });
});

describe('the peer of an address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::', '2001:db8:1:2::/64'],
    ['', ''],
  ])('%s counts as %s', (address, peer) => {
    expect(peerNetwork(address)).toBe(peer);
  });
});

describe('networks that exclude addresses', () => {
  it.each([
    [[], false],
    [['0.0.0.0/0'], false],
    [['192.0.2.0/24', '::/0'], false],
    [['10.0.0.0/8'], true],
    [['192.0.2.7'], true],
  ])('%j: %s', (cidrs, restricting) => {
    expect(areRestricting(cidrs)).toBe(restricting);
  });
});
