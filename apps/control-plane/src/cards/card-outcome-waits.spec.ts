import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CardOutcomeWaits, parseCardOutcomes } from './card-outcome-waits.js';

const ID = '018f0000-0000-7000-8000-000000000001';
const OTHER = '018f0000-0000-7000-8000-000000000002';
const inMs = (ms: number): number => performance.now() + ms;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

describe('a create that waits for its card', () => {
  it('hears what is told of its card alone', async () => {
    const waits = new CardOutcomeWaits();
    const [mine, others] = [waits.open(ID), waits.open(OTHER)];
    const [first, second] = [mine.next(inMs(500)), others.next(inMs(500))];
    waits.tell([{ id: ID, news: 'sent' }]);
    expect(await first).toBe('sent');
    await vi.advanceTimersByTimeAsync(500);
    expect(await second).toBeNull();
  });

  it('hears in their order what was told while it did not listen', async () => {
    const waits = new CardOutcomeWaits();
    const wait = waits.open(ID);
    waits.tell([
      { id: ID, news: 'sent' },
      { id: ID, news: 'rcs' },
    ]);
    expect([await wait.next(inMs(500)), await wait.next(inMs(500))]).toEqual(['sent', 'rcs']);
  });

  it('hears a thing that is told twice once', async () => {
    const waits = new CardOutcomeWaits();
    const wait = waits.open(ID);
    waits.tell([{ id: ID, news: 'sent' }]);
    expect(await wait.next(inMs(500))).toBe('sent');
    waits.tell([{ id: ID, news: 'sent' }]);
    const next = wait.next(inMs(500));
    await vi.advanceTimersByTimeAsync(500);
    expect(await next).toBeNull();
  });

  it('hears nothing more when its moment has come', async () => {
    const waits = new CardOutcomeWaits();
    expect(await waits.open(ID).next(inMs(0))).toBeNull();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves nothing behind', async () => {
    const waits = new CardOutcomeWaits();
    const wait = waits.open(ID);
    const next = wait.next(inMs(500));
    waits.tell([{ id: ID, news: 'rcs' }]);
    await next;
    wait.close();
    waits.tell([{ id: ID, news: 'sms_fallback' }]);
    expect([waits.size, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('waits no longer when the process stops, nor does one that comes then', async () => {
    const waits = new CardOutcomeWaits();
    const next = waits.open(ID).next(inMs(8_000));
    waits.hurry();
    expect(await next).toBeNull();
    expect(await waits.open(OTHER).next(inMs(8_000))).toBeNull();
  });
});

describe('news of cards', () => {
  it('are the well-formed ones of a list', () => {
    const news = [{ id: ID, news: 'rcs' }];
    const broken = [
      null,
      7,
      {},
      { id: ID },
      { id: 7, news: 'rcs' },
      { id: ID, news: 'delivered' },
      { id: 'x', news: 'rcs' },
    ];
    expect(parseCardOutcomes([...broken, ...news])).toEqual(news);
  });

  it.each([undefined, null, 'rcs', 7, {}])('are not in %j', (message) => {
    expect(parseCardOutcomes(message)).toEqual([]);
  });

  it('are 1,000 of a message at most', () => {
    expect(parseCardOutcomes(Array.from({ length: 1_001 }, () => ({ id: ID, news: 'rcs' })))).toHaveLength(1_000);
  });

  it('are of this form only, whatever the message is', () => {
    const news = fc.record({
      id: fc.oneof(fc.uuid(), fc.anything()),
      news: fc.oneof(fc.constant('rcs'), fc.anything()),
    });
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.array(fc.oneof(news, fc.anything()))), (message) => {
        for (const each of parseCardOutcomes(message)) {
          expect(each).toEqual({
            id: expect.stringMatching(/^[\da-f-]{36}$/) as string,
            news: expect.stringMatching(/^(sent|rcs|sms_fallback)$/) as string,
          });
        }
      }),
    );
  });
});
