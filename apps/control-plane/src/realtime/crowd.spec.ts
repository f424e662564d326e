import { describe, expect, it } from 'vitest';
import { Crowd } from './crowd.js';

describe('who has not said who he is', () => {
  it('comes in a hundred times from one address, and from one network of IPv6', () => {
    const crowd = new Crowd();
    for (let nth = 0; nth < 100; nth += 1) {
      crowd.enter('192.0.2.1');
      crowd.enter(`2001:db8::${nth.toString(16)}`);
    }
    expect(crowd.roomFor('192.0.2.1')).toBe('too_many_of_one');
    expect(crowd.roomFor('2001:db8::ffff')).toBe('too_many_of_one');
    expect(crowd.roomFor('192.0.2.2')).toBe('yes');
    crowd.leave('192.0.2.1');
    expect(crowd.roomFor('192.0.2.1')).toBe('yes');
  });

  it('is two thousand in all, and none when they have left', () => {
    const crowd = new Crowd();
    const addresses = Array.from({ length: 2_000 }, (_, nth) => `10.0.${nth >> 8}.${nth & 255}`);
    for (const address of addresses) crowd.enter(address);
    expect(crowd.roomFor('192.0.2.1')).toBe('full');
    for (const address of addresses) crowd.leave(address);
    expect(crowd.size).toBe(0);
    expect(crowd.roomFor('192.0.2.1')).toBe('yes');
  });
});
