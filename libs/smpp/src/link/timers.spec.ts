import { describe, expect, it } from 'vitest';
import {
  handleTick,
  nextTickMs,
  startTimers,
  timersBound,
  timersEnquireAnswered,
  timersRead,
  timersReadingResumed,
  timersReadingStopped,
  timersWaiting,
} from './timers.js';
import type { TimersState } from './timers.js';

const SETTINGS = {
  sessionInitMs: 5_000,
  pduReadMs: 10_000,
  enquireLinkMs: 30_000,
  responseMs: 10_000,
  inactivityMs: 0,
};
const QUIET = { partial: false, completed: true, answered: false, message: false, isHeldBack: false };
const fired = (timers: TimersState, nowMs: number): string | null => handleTick(timers, nowMs).fired;

describe('the timers of a link', () => {
  it('session-init: closes a connection without a bind', () => {
    const timers = startTimers(SETTINGS, 0);
    expect(nextTickMs(timers)).toBe(5_000);
    expect(fired(timers, 4_999)).toBe(null);
    expect(fired(timers, 5_000)).toBe('session-init');
    expect(fired(timersBound(timers, 4_000), 5_000)).toBe(null);
  });

  it('pdu-read: runs from the first octet of a PDU, however slowly the rest arrives', () => {
    let timers = timersBound(startTimers(SETTINGS, 0), 0);
    const dribble = { partial: true, completed: false, answered: false, message: false, isHeldBack: false };
    for (const nowMs of [1_000, 5_000, 9_000]) timers = timersRead(timers, nowMs, dribble);
    expect(fired(timers, 10_999)).toBe(null);
    expect(fired(timers, 11_000)).toBe('pdu-read');
    expect(fired(timersRead(timers, 10_500, QUIET), 11_000)).toBe(null);
    const next = timersRead(timers, 10_500, { ...dribble, completed: true });
    expect(fired(next, 20_499)).toBe(null);
    expect(fired(next, 20_500)).toBe('pdu-read');
  });

  it('enquire-link: fires when the peer has answered nothing for the period, even if it sends requests', () => {
    const timers = timersRead(timersBound(startTimers(SETTINGS, 0), 0), 20_000, { ...QUIET, message: true });
    expect(fired(timers, 30_000)).toBe('enquire-link');
    const proven = timersRead(timers, 20_000, { ...QUIET, answered: true });
    expect(fired(proven, 30_000)).toBe(null);
    expect(nextTickMs(proven)).toBe(50_000);
  });

  it('enquire-link: without an answer within the response time the link is dead', () => {
    const asked = handleTick(timersBound(startTimers(SETTINGS, 0), 0), 30_000).timers;
    expect(fired(asked, 39_999)).toBe(null);
    expect(fired(asked, 40_000)).toBe('dead-link');
    const answered = timersEnquireAnswered(asked, 31_000);
    expect(fired(answered, 60_999)).toBe(null);
    expect(fired(answered, 61_000)).toBe('enquire-link');
  });

  it('enquire-link: requests from the peer do not replace the answer', () => {
    const asked = handleTick(timersBound(startTimers(SETTINGS, 0), 0), 30_000).timers;
    expect(fired(timersRead(asked, 39_000, { ...QUIET, message: true }), 40_000)).toBe('dead-link');
  });

  it('response: fires for the oldest request of ours, and for the oldest message of the peer', () => {
    const bound = timersBound(startTimers(SETTINGS, 0), 0);
    expect(fired(timersWaiting(bound, 12_000, null), 12_000)).toBe('response');
    expect(fired(timersWaiting(bound, null, 12_000), 12_000)).toBe('handler');
    const both = handleTick(timersWaiting(bound, 12_000, 12_000), 12_000);
    expect(handleTick(both.timers, 12_000).fired).toBe('handler');
  });

  it('inactivity: counts messages only, and is off at 0', () => {
    const settings = { ...SETTINGS, enquireLinkMs: 0, inactivityMs: 60_000 };
    const bound = timersBound(startTimers(settings, 0), 0);
    expect(fired(timersRead(bound, 50_000, QUIET), 60_000)).toBe('inactivity');
    expect(fired(timersRead(bound, 50_000, { ...QUIET, message: true }), 60_000)).toBe(null);
    expect(nextTickMs(timersBound(startTimers({ ...settings, inactivityMs: 0 }, 0), 0))).toBe(Infinity);
  });

  it('counts no response as missing while reading is stopped, and allows one second after it resumes', () => {
    const bound = timersBound(startTimers(SETTINGS, 0), 0);
    const stopped = timersReadingStopped(timersWaiting({ ...bound, enquiredMs: 0, partialSinceMs: 0 }, 5_000, null));
    expect(fired(stopped, 60_000)).toBe(null);
    const resumed = timersReadingResumed(stopped, 60_000);
    expect(fired(resumed, 60_999)).toBe(null);
    expect(fired(resumed, 61_000)).toBe('dead-link');
    expect(fired({ ...resumed, enquiredMs: null }, 61_000)).toBe('response');
    expect(fired({ ...resumed, enquiredMs: null, answerDueMs: null, provenMs: 60_000 }, 69_999)).toBe(null);
    expect(fired({ ...resumed, enquiredMs: null, answerDueMs: null, provenMs: 60_000 }, 70_000)).toBe('pdu-read');
  });

  it('gives a peer no further time that alternates floods and single messages', () => {
    const waiting = timersWaiting(timersBound(startTimers({ ...SETTINGS, enquireLinkMs: 0 }, 0), 0), 10_000, null);
    let timers = waiting;
    for (let nowMs = 0; nowMs < 20_000; nowMs += 800) {
      expect(fired(timers, nowMs)).toBe(null);
      timers = timersReadingStopped(timersRead(timers, nowMs, { ...QUIET, isHeldBack: true }));
      timers = timersRead(timersReadingResumed(timers, nowMs + 700), nowMs + 700, QUIET);
    }
    expect(fired(timers, 20_000)).toBe('response');
  });

  it('gives a peer that is held back by what it sends the response time once more', () => {
    const settings = { ...SETTINGS, enquireLinkMs: 0 };
    const waiting = timersWaiting(timersBound(startTimers(settings, 0), 0), 10_000, null);
    const flood = (before: TimersState, nowMs: number): TimersState =>
      timersReadingStopped(timersRead(timersReadingResumed(before, nowMs), nowMs, { ...QUIET, isHeldBack: true }));
    let flooded = waiting;
    for (let nowMs = 500; nowMs < 19_000; nowMs += 500) {
      flooded = flood(flooded, nowMs);
      expect(fired(flooded, nowMs + 499)).toBe(null);
    }
    expect(fired(flooded, 20_000)).toBe('response');
    const calm = timersRead(timersReadingResumed(flood(waiting, 10_500), 13_000), 13_000, QUIET);
    expect(fired(calm, 13_999)).toBe(null);
    expect(fired(calm, 14_000)).toBe('response');
    // Messages of ours that are not stored yet hold nothing against the peer.
    expect(fired(timersReadingStopped(calm), 60_000)).toBe(null);
  });
});
