import { describe, expect, it } from 'vitest';
import { OtherGateways, type OtherGatewaysOptions } from './other-gateways.js';

/** The rows say that one bind is bound elsewhere; what is published is kept. */
function capacity(): { others: OtherGateways; said: unknown[]; hear: (from: unknown) => void; reads: () => number } {
  const said: unknown[] = [];
  let reads = 0;
  const handlers: ((from: unknown) => void)[] = [];
  const options: OtherGatewaysOptions = {
    self: 'here',
    database: {
      query: <Row>(): Promise<Row[]> => {
        reads++;
        return Promise.resolve([{ bindId: 'b' } as Row]);
      },
    },
    bus: {
      publish: (_, payload) => void said.push(payload),
      subscribe: (topic, handler) => {
        handlers.push((from) => handler({ topic, octets: Buffer.alloc(0), json: () => from }));
        return { ready: Promise.resolve(), close: () => undefined };
      },
    },
  };
  const hear = (from: unknown): void => handlers.forEach((handler) => handler(from));
  return { others: new OtherGateways(options), said, hear, reads: () => reads };
}

describe('a code that another gateway can send better', () => {
  it('is left to it for three seconds, and again once that is long ago', () => {
    const { others } = capacity();
    const at = [0, 1_000, 2_999, 3_000, 14_999, 15_000, 17_999, 18_000];
    expect(at.map((ms) => others.mayDefer('m', ms))).toEqual([true, true, true, false, false, true, true, false]);
  });

  it('is not left to it when too many are: what is remembered has an end', () => {
    const { others } = capacity();
    for (let count = 0; count < 10_000; count++) others.mayDefer(`m${count}`, 0);
    expect([others.mayDefer('more', 1), others.mayDefer('m0', 1)]).toEqual([false, true]);
    expect(others.mayDefer('more', 15_000)).toBe(true);
  });

  it('is told of once in a moment, and only where somebody may hear it', async () => {
    const { others, said, reads } = capacity();
    others.announceDeferred();
    expect(said).toEqual([]);
    expect([...(await others.boundBinds())]).toEqual(['b']);
    await others.boundBinds();
    expect(reads()).toBe(1);
    for (let count = 0; count < 10; count++) others.announceDeferred();
    expect(said).toEqual(['here']);
  });

  it('is heard of from others, not from itself', () => {
    const { others, hear } = capacity();
    let heard = 0;
    others.onDeferred(() => heard++);
    hear('here');
    expect(heard).toBe(0);
    hear('there');
    expect(heard).toBe(1);
  });
});
