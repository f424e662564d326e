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

describe('whether a card may be sent', () => {
  it.each([
    ['nothing speaks against it', {}, null],
    ['engineers hold cards back', { paused: true }, 'paused'],
    ['the agent is suspended', { suspended: true }, 'agent_suspended'],
    ['the phone asked it to stop', { prefersSms: true }, 'prefers_sms'],
    ['it could not be reached just now', { unreachableAtMs: NOW }, 'unreachable'],
    ['… 299.999 s ago', { unreachableAtMs: NOW - UNREACHABLE_MS + 1 }, 'unreachable'],
    ['… 300 s ago', { unreachableAtMs: NOW - UNREACHABLE_MS }, null],
    ['it had two cards', { recent: cardsAgo(MINUTE, 0) }, null],
    ['it had three in ten minutes', { recent: cardsAgo(10 * MINUTE - 1, MINUTE, 0) }, 'too_many_cards'],
    ['… the first of them ten minutes ago', { recent: cardsAgo(10 * MINUTE, MINUTE, 0) }, null],
    ['it denied once', { denialsMs: deniedAgo(0) }, null],
    ['it denied twice at once', { denialsMs: deniedAgo(0, 0) }, 'denied_before'],
    ['it denied twice within an hour', { denialsMs: deniedAgo(HOUR, 0) }, 'denied_before'],
    ['it denied twice, an hour and a bit apart', { denialsMs: deniedAgo(HOUR + 1, 0) }, null],
    ['… and the second was less than an hour ago', { denialsMs: deniedAgo(2 * HOUR - 1, HOUR - 1) }, 'denied_before'],
    ['… and the second was an hour ago', { denialsMs: deniedAgo(2 * HOUR, HOUR) }, null],
    ['of three denials the last two count', { denialsMs: deniedAgo(3 * HOUR, 2.9 * HOUR, MINUTE) }, null],
  ] as const)('%s: %j → %s', (_what, changes, because) => {
    expect(judgeOffer({ ...nothing, ...changes }, UNREACHABLE_MS, NOW)).toBe(because);
  });

  it('is tried every time where what could not be reached is not remembered', () => {
    expect(judgeOffer({ ...nothing, unreachableAtMs: NOW }, 0, NOW)).toBeNull();
  });
});

it('cards that count no more are left out', () => {
  const [old = '', young = ''] = cardsAgo(10 * MINUTE, 10 * MINUTE - 1);
  expect(recentCards([old, young], NOW)).toEqual([young]);
});
