import { describe, expect, it } from 'vitest';
import { OtherGateways } from './other-gateways.js';

/** One link is bound at another gateway; published payloads are collected. */
function openOthers(): {
  others: OtherGateways;
  published: unknown[];
  receive: (from: unknown) => void;
  reads: () => number;
} {
  const published: unknown[] = [];
  let reads = 0;
  const handlers: ((from: unknown) => void)[] = [];
  const others = new OtherGateways(
    {
      query: <Row>(): Promise<Row[]> => {
        reads++;
        return Promise.resolve([{ linkId: 'b' } as Row]);
      },
    },
    {
      publish: (_, ...[payload]) => void published.push(payload),
      subscribe: (topic, handler) => {
        handlers.push((from) => handler({ topic, octets: Buffer.alloc(0), json: () => from }));
        return { ready: Promise.resolve(), close: () => undefined };
      },
    },
    'here',
  );
  const receive = (from: unknown): void => handlers.forEach((handler) => handler(from));
  return { others, published, receive, reads: () => reads };
}

describe('a code with a better link at another gateway', () => {
  it('is deferred for three seconds, and again after fifteen', () => {
    const { others } = openOthers();
    const at = [0, 1_000, 2_999, 3_000, 14_999, 15_000, 17_999, 18_000];
    expect(at.map((ms) => others.mayDefer('m', ms))).toEqual([true, true, true, false, false, true, true, false]);
  });

  it('is not deferred when too many codes are tracked', () => {
    const { others } = openOthers();
    for (let count = 0; count < 10_000; count++) others.mayDefer(`m${count}`, 0);
    expect([others.mayDefer('more', 1), others.mayDefer('m0', 1)]).toEqual([false, true]);
    expect(others.mayDefer('more', 15_000)).toBe(true);
  });

  it('is announced at most once per interval, and only when another gateway has a link', async () => {
    const { others, published, reads } = openOthers();
    others.announceDeferred();
    expect(published).toEqual([]);
    expect([...(await others.boundLinks())]).toEqual(['b']);
    await others.boundLinks();
    expect(reads()).toBe(1);
    for (let count = 0; count < 10; count++) others.announceDeferred();
    expect(published).toEqual(['here']);
  });

  it('is reported by other gateways, not by itself', () => {
    const { others, receive } = openOthers();
    let notified = 0;
    others.onDeferred(() => notified++);
    receive('here');
    expect(notified).toBe(0);
    receive('there');
    expect(notified).toBe(1);
  });
});
