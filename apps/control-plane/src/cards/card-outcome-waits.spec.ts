import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CardOutcomeWaits, parseCardOutcomes } from './card-outcome-waits.js';

const ID = '018f0000-0000-7000-8000-000000000001';
const OTHER = '018f0000-0000-7000-8000-000000000002';
const inMs = (ms: number): number => performance.now() + ms;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

describe('a create that waits for its card', () => {
  it('gets only outcomes of its card', async () => {
    const waits = new CardOutcomeWaits();
    const [own, other] = [waits.open(ID), waits.open(OTHER)];
    const [first, second] = [own.next(inMs(500)), other.next(inMs(500))];
    waits.deliver([{ id: ID, news: 'sent' }]);
    expect(await first).toBe('sent');
    await vi.advanceTimersByTimeAsync(500);
    expect(await second).toBeNull();
  });

  it('gets outcomes from between its reads in their order', async () => {
    const waits = new CardOutcomeWaits();
    const wait = waits.open(ID);
    waits.deliver([
      { id: ID, news: 'sent' },
      { id: ID, news: 'rcs' },
    ]);
    expect([await wait.next(inMs(500)), await wait.next(inMs(500))]).toEqual(['sent', 'rcs']);
  });

  it('gets a repeated outcome once', async () => {
    const waits = new CardOutcomeWaits();
    const wait = waits.open(ID);
    waits.deliver([{ id: ID, news: 'sent' }]);
    expect(await wait.next(inMs(500))).toBe('sent');
    waits.deliver([{ id: ID, news: 'sent' }]);
    const next = wait.next(inMs(500));
    await vi.advanceTimersByTimeAsync(500);
    expect(await next).toBeNull();
  });

  it('gets null without a timer when its deadline has passed', async () => {
    const waits = new CardOutcomeWaits();
    expect(await waits.open(ID).next(inMs(0))).toBeNull();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves no entry and no timer', async () => {
    const waits = new CardOutcomeWaits();
    const wait = waits.open(ID);
    const next = wait.next(inMs(500));
    waits.deliver([{ id: ID, news: 'rcs' }]);
    await next;
    wait.close();
    waits.deliver([{ id: ID, news: 'sms_fallback' }]);
    expect([waits.size, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('ends when the process stops, and so does a later wait', async () => {
    const waits = new CardOutcomeWaits();
    const next = waits.open(ID).next(inMs(8_000));
    waits.endAll();
    expect(await next).toBeNull();
    expect(await waits.open(OTHER).next(inMs(8_000))).toBeNull();
  });
});

describe('parseCardOutcomes', () => {
  it('returns the well-formed entries of a list', () => {
    const outcomes = [{ id: ID, news: 'rcs' }];
    const malformed = [
      null,
      7,
      {},
      { id: ID },
      { id: 7, news: 'rcs' },
      { id: ID, news: 'delivered' },
      { id: 'x', news: 'rcs' },
    ];
    expect(parseCardOutcomes([...malformed, ...outcomes])).toEqual(outcomes);
  });

  it.each([undefined, null, 'rcs', 7, {}])('returns nothing for %j', (message) => {
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
