import { firstIdAt } from '@countersign/ids';
import { describe, expect, it } from 'vitest';
import { judgeOffer, recentCards, type OfferStanding } from './judge-offer.js';

const NOW = 1_763_700_000_000;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const UNREACHABLE_MS = 300 * SECOND;

const nothing: OfferStanding = {
  paused: false,
  suspended: false,
  prefersSms: false,
  unreachableAtMs: null,
  recent: [],
  denialsMs: [],
};

const cardsAgo = (...agoMs: readonly number[]): string[] => agoMs.map((ms) => firstIdAt(NOW - ms));
const deniedAgo = (...agoMs: readonly number[]): number[] => agoMs.map((ms) => NOW - ms);

describe('an offer', () => {
  it.each([
    ['without a reason against it', {}, null],
    ['while the queue is paused', { paused: true }, 'paused'],
    ['of a suspended agent', { suspended: true }, 'agent_suspended'],
    ['to an unsubscribed phone', { prefersSms: true }, 'prefers_sms'],
    ['to a phone found unreachable now', { unreachableAtMs: NOW }, 'unreachable'],
    ['… 299.999 s ago', { unreachableAtMs: NOW - UNREACHABLE_MS + 1 }, 'unreachable'],
    ['… 300 s ago', { unreachableAtMs: NOW - UNREACHABLE_MS }, null],
    ['to a phone with two recent cards', { recent: cardsAgo(MINUTE, 0) }, null],
    ['to a phone with three cards in ten minutes', { recent: cardsAgo(10 * MINUTE - 1, MINUTE, 0) }, 'too_many_cards'],
    ['… the first of them ten minutes ago', { recent: cardsAgo(10 * MINUTE, MINUTE, 0) }, null],
    ['to a phone with three cards of a time to come', { recent: cardsAgo(-MINUTE, -HOUR, -2 * HOUR) }, null],
    ['to a phone with one denial', { denialsMs: deniedAgo(0) }, null],
    ['to a phone with two denials of a time to come', { denialsMs: deniedAgo(-MINUTE, -HOUR) }, null],
    ['to a phone with two denials at once', { denialsMs: deniedAgo(0, 0) }, 'denied_before'],
    ['to a phone with two denials within an hour', { denialsMs: deniedAgo(HOUR, 0) }, 'denied_before'],
    ['to a phone with two denials more than an hour apart', { denialsMs: deniedAgo(HOUR + 1, 0) }, null],
    ['… and the second was less than an hour ago', { denialsMs: deniedAgo(2 * HOUR - 1, HOUR - 1) }, 'denied_before'],
    ['… and the second was an hour ago', { denialsMs: deniedAgo(2 * HOUR, HOUR) }, null],
    [
      'to a phone with three denials, of which the last two count',
      { denialsMs: deniedAgo(3 * HOUR, 2.9 * HOUR, MINUTE) },
      null,
    ],
  ] as const)('%s: %j → %s', (_what, changes, because) => {
    expect(judgeOffer({ ...nothing, ...changes }, UNREACHABLE_MS, NOW)).toBe(because);
  });

  it('is always allowed when the unreachable time is zero', () => {
    expect(judgeOffer({ ...nothing, unreachableAtMs: NOW }, 0, NOW)).toBeNull();
  });
});

it('recent cards exclude older ones', () => {
  const [old = '', young = ''] = cardsAgo(10 * MINUTE, 10 * MINUTE - 1);
  expect(recentCards([old, young], NOW)).toEqual([young]);
});
