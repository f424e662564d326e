import { describe, expect, it } from 'vitest';
import { ID, bind, message } from '../codec/octets.fixture.js';
import { STATUS } from '../pdu/dictionary.js';
import { LongReads } from './long-reads.js';
import { Loopback, linkOptions } from './raw-peer.fixture.js';

/** Some 2 MiB. */
const FLOOD = 30_000;
const HANDLED_MS = 0.05;

describe('LongReads', () => {
  it('does not pause after short reads', () => {
    const reads = new LongReads();
    for (let atMs = 0; atMs < 100; atMs += 4) expect(reads.pauseMs(atMs, atMs + 4)).toBe(0);
  });

  it('pauses one connection for as long as its read took', () => {
    const reads = new LongReads();
    let nowMs = 1_000;
    for (let n = 0; n < 10; n += 1) {
      const pauseMs = reads.pauseMs(nowMs, nowMs + 20);
      expect(pauseMs).toBe(20);
      nowMs += 20 + pauseMs;
    }
  });

  it.each([2, 5, 10])('gives %i connections half of the time together', (connections) => {
    const reads = new LongReads();
    const nextMs = Array.from({ length: connections }, () => 0);
    let [nowMs, readMs] = [0, 0];
    while (nowMs < 100_000) {
      const first = nextMs.indexOf(Math.min(...nextMs));
      nowMs = Math.max(nowMs, nextMs[first] ?? 0) + 20;
      readMs += 20;
      nextMs[first] = nowMs + reads.pauseMs(nowMs - 20, nowMs);
    }
    expect(readMs / nowMs).toBeCloseTo(0.5, 1);
  });

  it('pauses for a second at most', () => {
    const reads = new LongReads();
    for (let n = 0; n < 100; n += 1) expect(reads.pauseMs(0, 3_000)).toBeLessThanOrEqual(1_000);
  });
});

it.each([
  ['at once', <T>(answer: T): T => answer],
  ['at once, but with a promise', <T>(answer: T): Promise<T> => Promise.resolve(answer)],
])('a peer whose messages are answered %s does not occupy the process', async (_, answered) => {
  const loopback = await Loopback.open();
  try {
    let handled = 0;
    const onMessage = () => {
      handled += 1;
      for (const untilMs = performance.now() + HANDLED_MS; performance.now() < untilMs;);
      return answered({ status: STATUS.ESME_ROK, messageId: 'id' });
    };
    const flooded = await loopback.link(linkOptions({ onMessage }));
    const other = await loopback.link(linkOptions({}));
    for (const { peer } of [flooded, other]) {
      peer.send(bind());
      await peer.answer(1);
    }
    flooded.peer.send(Buffer.concat(Array.from({ length: FLOOD }, (__, at) => message({}, [], ID.submit_sm, at + 10))));
    // Its messages are being handled when the others arrive.
    await expect.poll(() => handled, { interval: 1 }).toBeGreaterThan(0);
    const before = handled;
    for (const sequence of [7, 8, 9]) {
      other.peer.send(message({}, [], ID.submit_sm, sequence));
      await other.peer.answer(sequence);
    }
    expect(handled - before).toBeLessThan(FLOOD / 4);
    flooded.link.destroy('done');
  } finally {
    await loopback.close();
  }
});
