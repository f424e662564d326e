import type { Errand } from '@countersign/cards';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CardErrandPump } from './card-errand-pump.js';
import type { Told } from './rbm-answer.js';

const RELAY_MS = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const errandOf = (id: string): Errand => ({
  id,
  kind: 'revoke',
  agentId: 'acme_agent',
  phone: '+14155552671',
  brandName: 'Acme',
  messageId: id,
  expiresAt: new Date(0),
});

function opened(run: (errand: Errand) => Promise<Told> = () => Promise.resolve('done')) {
  const [due, done, failed, errors]: [Errand[], string[], string[], unknown[]] = [[], [], [], []];
  let msToNext: number | null = null;
  const pump = new CardErrandPump({
    cards: {
      takeErrands: (limit) => Promise.resolve(due.splice(0, limit)),
      errandDone: ({ id }) => Promise.resolve(void done.push(id)),
      errandFailed: ({ id }) => Promise.resolve(void failed.push(id)),
      msToNextErrand: () => Promise.resolve(msToNext),
    },
    run,
    onTold: () => undefined,
    onError: (error) => void errors.push(error),
  });
  return { pump, due, done, failed, errors, nextIn: (ms: number | null) => void (msToNext = ms) };
}

const settled = async (): Promise<void> => {
  await vi.advanceTimersByTimeAsync(0);
};

describe('an errand', () => {
  it('is run when the pump is woken, and ended', async () => {
    const { pump, due, done } = opened();
    pump.start();
    await settled();
    due.push(errandOf('a'));
    pump.wake();
    await settled();
    expect(done).toEqual(['a']);
    await pump.stopTaking();
  });

  it('is found without a ring within a second', async () => {
    const { pump, due, done } = opened();
    pump.start();
    await settled();
    due.push(errandOf('a'));
    await vi.advanceTimersByTimeAsync(RELAY_MS);
    expect(done).toEqual(['a']);
    await pump.stopTaking();
  });

  it('that falls due sooner is run then', async () => {
    const { pump, due, done, nextIn } = opened();
    nextIn(400);
    pump.start();
    await settled();
    due.push(errandOf('a'));
    await vi.advanceTimersByTimeAsync(500);
    expect(done).toEqual(['a']);
    nextIn(null);
    await pump.stopTaking();
  });

  it('that the platform did not take is put back', async () => {
    const { pump, due, done, failed } = opened(() => Promise.resolve('again'));
    due.push(errandOf('a'));
    pump.start();
    await settled();
    expect([done, failed]).toEqual([[], ['a']]);
    await pump.stopTaking();
  });

  it('that fails here is reported, and holds nothing back', async () => {
    const { pump, due, done, errors } = opened(({ id }) =>
      id === 'a' ? Promise.reject(new Error('boom')) : Promise.resolve('done'),
    );
    due.push(errandOf('a'), errandOf('b'));
    pump.start();
    await settled();
    expect([done, errors.length]).toEqual([['b'], 1]);
    await pump.stopTaking();
  });

  it('is taken by the hundred, many at the same time, and waited for on a stop', async () => {
    const answers: ((told: Told) => void)[] = [];
    const { pump, due, done } = opened(() => new Promise((resolve) => void answers.push(resolve)));
    for (let at = 0; at < 700; at++) due.push(errandOf(`e${at}`));
    pump.start();
    await settled();
    expect([answers.length, due.length]).toEqual([500, 200]);
    await pump.stopTaking();
    for (const answer of answers) answer('done');
    await pump.drain();
    expect(done).toHaveLength(500);
  });
});
