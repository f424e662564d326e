import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IncompleteBodies } from './incomplete-bodies.js';

const LIMITS = { octets: 100_000, octetsOfOwner: 50_000 };

function request(headers: Record<string, string>): IncomingMessage {
  const message = new IncomingMessage(new Socket());
  Object.assign(message.headers, headers);
  return message;
}
const sized = (octets: number): IncomingMessage => request({ 'content-length': String(octets) });

describe('bodies that are not complete', () => {
  it('are received until their owner, or all together, have too many octets', () => {
    const bodies = new IncompleteBodies(LIMITS);
    expect(bodies.begin(sized(50_000), 'one')).toBe(true);
    expect(bodies.begin(sized(9_000), 'one')).toBe(false);
    expect(bodies.begin(sized(40_000), 'two')).toBe(true);
    expect(bodies.begin(sized(20_000), 'three')).toBe(false);
    expect(bodies.begin(sized(10_000), 'three')).toBe(true);
  });

  it('do not count when they are small, or when there is none', () => {
    const bodies = new IncompleteBodies(LIMITS);
    bodies.begin(sized(50_000), 'one');
    for (const small of [sized(8 * 1024), request({})]) expect(bodies.begin(small, 'one')).toBe(true);
  });

  it('of unknown length count as 32 KiB', () => {
    const bodies = new IncompleteBodies(LIMITS);
    expect(bodies.begin(request({ 'transfer-encoding': 'chunked' }), 'one')).toBe(true);
    expect(bodies.begin(request({ 'transfer-encoding': 'chunked' }), 'one')).toBe(false);
  });

  it('count until they end, in whatever way, and once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ owner: fc.constantFrom('one', 'two'), octets: fc.integer({ min: 9_000, max: 50_000 }) })),
        fc.array(fc.constantFrom('end', 'close'), { minLength: 2, maxLength: 3 }),
        (all, events) => {
          const bodies = new IncompleteBodies(LIMITS);
          for (const { owner, octets } of all) {
            const body = sized(octets);
            if (bodies.begin(body, owner)) for (const event of events) body.emit(event);
          }
          return bodies.begin(sized(50_000), 'one') && bodies.begin(sized(50_000), 'two');
        },
      ),
    );
  });
});
