import { NotSentError } from '@countersign/smpp/link';
import type { ResponsePdu } from '@countersign/smpp/pdu';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SubmitQueue, type SubmitQueueTerms } from './submit-queue.js';

const answer = (status = 0): ResponsePdu => ({
  command: 'submit_sm_resp',
  status,
  sequence: 1,
  fields: { messageId: 'x' },
  tlvs: [],
});

/** A carrier that responds when `answer` is called. */
class SlowCarrier {
  readonly sentMs: number[] = [];
  readonly #open: ((pdu: ResponsePdu) => void)[] = [];

  readonly send = (): Promise<ResponsePdu> => {
    this.sentMs.push(performance.now());
    return new Promise((resolve) => this.#open.push(resolve));
  };

  answer(status?: number): void {
    this.#open.shift()?.(answer(status));
  }
}

describe('a submit queue', () => {
  let terms: SubmitQueueTerms | null;
  let queue: SubmitQueue;
  let carrier: SlowCarrier;

  beforeEach(() => {
    vi.useFakeTimers();
    terms = { window: 2, perSecond: 1_000 };
    queue = new SubmitQueue(() => terms);
    carrier = new SlowCarrier();
  });
  afterEach(() => vi.useRealTimers());

  const submit = (withinMs = 5_000): Promise<string> =>
    queue.submit(withinMs, carrier.send).then(
      () => 'answered',
      (error: unknown) => (error instanceof NotSentError ? 'not sent' : 'unknown'),
    );

  it('never has more unanswered submits than the window', async () => {
    for (let count = 0; count < 5; count++) void submit();
    await vi.advanceTimersByTimeAsync(100);
    expect(carrier.sentMs).toHaveLength(2);
    carrier.answer();
    await vi.advanceTimersByTimeAsync(100);
    expect(carrier.sentMs).toHaveLength(3);
  });

  it('applies a wider window and another rate', async () => {
    for (let count = 0; count < 50; count++) void submit(60_000);
    await vi.advanceTimersByTimeAsync(10);
    terms = { window: 50, perSecond: 10 };
    carrier.answer();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(carrier.sentMs.length).toBeGreaterThanOrEqual(11);
    expect(carrier.sentMs.length).toBeLessThanOrEqual(14);
  });

  it('applies a wider window while there is no response', async () => {
    for (let count = 0; count < 10; count++) void submit(60_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(carrier.sentMs).toHaveLength(2);
    terms = { window: 6, perSecond: 1_000 };
    await vi.advanceTimersByTimeAsync(1_000);
    expect(carrier.sentMs).toHaveLength(6);
  });

  it('sends at its rate', async () => {
    terms = { window: 1_000, perSecond: 20 };
    for (let count = 0; count < 40; count++) void submit();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(Math.abs(carrier.sentMs.length - 20)).toBeLessThanOrEqual(1);
  });

  it('sends half as fast to a carrier that throttles', async () => {
    terms = { window: 1_000, perSecond: 40 };
    for (let count = 0; count < 100; count++) void submit(60_000);
    await vi.advanceTimersByTimeAsync(100);
    const before = carrier.sentMs.length;
    carrier.answer(0x58);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(Math.abs(carrier.sentMs.length - before - 40)).toBeLessThanOrEqual(1);
    expect(queue.isIdle).toBe(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(queue.isIdle).toBe(true);
  });

  it('sends no submit after its time limit', async () => {
    terms = { window: 1, perSecond: 1_000 };
    void submit();
    const late = submit(500);
    await vi.advanceTimersByTimeAsync(501);
    expect(await late).toBe('not sent');
    carrier.answer();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(carrier.sentMs).toHaveLength(1);
  });

  it('rejects all waiting submits as not sent when the connection is lost', async () => {
    const waiting = [submit(), submit(), submit(), submit()];
    await vi.advanceTimersByTimeAsync(100);
    terms = null;
    carrier.answer();
    expect(await Promise.all([waiting[2], waiting[3], submit()])).toEqual(['not sent', 'not sent', 'not sent']);
    expect(carrier.sentMs).toHaveLength(2);
  });

  it('has capacity for the submits of one second, and at most four windows', () => {
    expect(queue.capacityBeyond(0)).toBe(8);
    expect(queue.capacityBeyond(3)).toBe(5);
    queue.reserve();
    expect(queue.capacityBeyond(3)).toBe(4);
    terms = { window: 100, perSecond: 5 };
    expect(queue.capacityBeyond(0)).toBe(4);
    terms = null;
    expect(queue.capacityBeyond(0)).toBe(0);
  });
});
