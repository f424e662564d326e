import { describe, expect, it } from 'vitest';
import { type Login, openLogin, type Phase, viewOf } from './login.js';
import { attemptsText, proofOf, readablePhone, resendText, screenOf, storyOf, timeLeft } from './page/shown.mjs';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const LOGIN: Login = openLogin(
  'login-1',
  {
    id: 'sess_0',
    status: 'pending',
    channel: 'sms_fallback',
    fallbackUri: 'sms:+14155550199?body=AUTH',
    phone: '+14155552671',
    expiresAt: '2026-01-01T00:01:30.000Z',
  },
  NOW,
);
const sent = { ...LOGIN.code, sends: 1 };

describe('the screen of a login', () => {
  it.each([
    ['the text, where no card arrived', LOGIN, false, 'text'],
    ['the card, where one did', { ...LOGIN, channel: 'rcs' }, false, 'card'],
    ['the code, when one was sent and its field is open', { ...LOGIN, code: sent }, true, 'code'],
    ['the text again, when the field was closed', { ...LOGIN, code: sent }, false, 'text'],
  ] as const)('is %s', (_, login, codeOpen, screen) => {
    expect(screenOf(viewOf(login, NOW), codeOpen)).toBe(screen);
  });

  it.each<[Phase, string]>([
    ['approved', 'entering'],
    ['signed_in', 'home'],
    ['denied', 'denied'],
    ['expired', 'expired'],
    ['cancelled', 'cancelled'],
  ])('is its end when it is %s, even with the field of the code open', (phase, screen) => {
    expect(screenOf(viewOf({ ...LOGIN, phase, code: sent }, NOW), true)).toBe(screen);
  });
});

describe('the story', () => {
  const statesOf = (screen: string): string =>
    storyOf(screen)
      .map(([, state]) => state)
      .join(' ');

  it.each([
    ['start', 'ahead ahead ahead ahead'],
    ['reaching', 'done now ahead ahead'],
    ['card', 'done done now ahead'],
    ['text', 'done done now ahead'],
    ['code', 'done done now ahead'],
    ['entering', 'done done done now'],
    ['home', 'done done done done'],
    ['denied', 'ahead ahead ahead ahead'],
  ])('at %s is %s', (screen, states) => {
    expect(statesOf(screen)).toBe(states);
  });
});

describe('texts for people', () => {
  it.each([
    [90_000, '1:30 left'],
    [59_001, '1:00 left'],
    [900, '0:01 left'],
    [0, 'Time is up'],
  ])('of %s ms is %s', (ms, text) => {
    expect(timeLeft(ms)).toBe(text);
  });

  it.each([
    ['+14155552671', '+1 415 555 2671'],
    ['+442079460018', '+442 079 460 018'],
  ])('of %s is %s', (phone, text) => {
    expect(readablePhone(phone)).toBe(text);
  });

  it('of a proof is how and how fast', () => {
    expect(proofOf({ proof: 'card', latencyMs: 2_340 })).toBe('You approved the card, 2.3 seconds after you asked');
    expect(proofOf({ proof: 'code', latencyMs: null })).toBe('Your code was right');
  });

  it('of the attempts is nothing before the first wrong one', () => {
    expect([5, 3, 1, 0].map((attemptsLeft) => attemptsText({ attemptsLeft }))).toEqual([
      '',
      '3 attempts are left.',
      '1 attempt is left.',
      'No attempts are left for this sign-in.',
    ]);
  });

  it('of another code is when it may be asked for', () => {
    expect(resendText({ sendsLeft: 2 }, 12_100)).toEqual({ text: 'Another code in 13 s', ready: false });
    expect(resendText({ sendsLeft: 2 }, 0)).toEqual({ text: 'Send another code', ready: true });
    expect(resendText({ sendsLeft: 0 }, 0).ready).toBe(false);
  });
});
