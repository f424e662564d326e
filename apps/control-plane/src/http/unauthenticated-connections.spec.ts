import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnauthenticatedConnections } from './unauthenticated-connections.js';

describe('connections that have not authenticated', () => {
  it('evict the oldest of their own address, over its limit', () => {
    const waiting = new UnauthenticatedConnections<number>({ connections: 100, connectionsOfNetwork: 2 });
    expect([waiting.add('192.0.2.1', 1), waiting.add('192.0.2.2', 2), waiting.add('192.0.2.1', 3)]).toEqual([
      null,
      null,
      null,
    ]);
    expect(waiting.add('192.0.2.1', 4)).toBe(1);
    expect(waiting.add('::ffff:192.0.2.1', 5)).toBe(3);
    expect(waiting.size).toBe(3);
  });

  it('count a /64 of IPv6 as one address', () => {
    const waiting = new UnauthenticatedConnections<number>({ connections: 100, connectionsOfNetwork: 1 });
    expect(waiting.add('2001:db8::1', 1)).toBeNull();
    expect(waiting.add('2001:db8::2', 2)).toBe(1);
    expect(waiting.add('2001:db8:0:1::1', 3)).toBeNull();
  });

  it('evict the oldest of the address with the most, over the limit in all', () => {
    const waiting = new UnauthenticatedConnections<string>({ connections: 4, connectionsOfNetwork: 10 });
    waiting.add('192.0.2.9', 'browser');
    for (const name of ['a', 'b', 'c']) waiting.add('192.0.2.1', name);
    expect(waiting.add('192.0.2.8', 'another browser')).toBe('a');
    expect(waiting.add('192.0.2.1', 'd')).toBe('b');
  });

  it('leave no entry when they have authenticated or ended', () => {
    const waiting = new UnauthenticatedConnections<number>({ connections: 2, connectionsOfNetwork: 1 });
    waiting.add('192.0.2.1', 1);
    waiting.remove(1);
    waiting.remove(1);
    expect([waiting.size, waiting.evict()]).toEqual([0, null]);
    expect(waiting.add('192.0.2.1', 2)).toBeNull();
  });

  it('never evict a browser for a flood from fewer addresses than the total limit divided by the limit of an address', () => {
    const networks = 20;
    const step = fc.oneof(
      { weight: 20, arbitrary: fc.record({ flood: fc.nat({ max: networks - 1 }) }) },
      { weight: 1, arbitrary: fc.constant('browser' as const) },
      { weight: 1, arbitrary: fc.constant('authenticates' as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 100, maxLength: 500 }), (steps) => {
        // Each address of the flood holds at most its limit, and each waiting browser one more connection.
        const waiting = new UnauthenticatedConnections<string>({ connections: 60, connectionsOfNetwork: 100 });
        const browsers: string[] = [];
        for (const [nth, each] of steps.entries()) {
          if (each === 'authenticates') {
            const browser = browsers.shift();
            if (browser !== undefined) waiting.remove(browser);
          } else if (each !== 'browser') {
            expect(waiting.add(`198.51.100.${each.flood}`, `flood ${nth}`) ?? 'flood').toMatch(/^flood/);
          } else if (browsers.length < 60 - networks) {
            browsers.push(`browser ${nth}`);
            const address = `203.0.${nth >> 8}.${nth & 255}`;
            expect(waiting.add(address, `browser ${nth}`) ?? 'flood').toMatch(/^flood/);
          }
        }
      }),
    );
  });
});
