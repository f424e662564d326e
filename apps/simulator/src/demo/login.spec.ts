import { describe, expect, it } from 'vitest';
import {
  codeAccepted,
  codeSent,
  codeWaits,
  codeWrong,
  decide,
  isOverdue,
  judge,
  type Login,
  type LoginEvent,
  NEXT,
  openLogin,
  type Phase,
  type SessionFacts,
  applySession,
  viewOf,
} from './login.js';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const SESSION: SessionFacts = {
  id: 'sess_0',
  status: 'pending',
  channel: 'sms_fallback',
  fallbackUri: 'sms:+14155550199?body=AUTH-ACME-0',
  phone: '+14155552671',
  expiresAt: '2026-01-01T00:01:30.000Z',
};
const EVENTS: readonly LoginEvent[] = ['approved', 'accepted', 'denied', 'expired', 'cancelled'];
const opened = (facts: Partial<SessionFacts> = {}): Login => openLogin('login-1', { ...SESSION, ...facts }, NOW);

describe('the phases of a login', () => {
  it('follow this table', () => {
    const rows = Object.entries(NEXT).map(([phase, row]) => [phase, ...EVENTS.map((event) => row[event] ?? '–')]);
    expect(rows.map((row) => row.map((cell) => cell.padEnd(9)).join(' '))).toEqual([
      'waiting   approved  –         denied    expired   cancelled',
      'approved  –         signed_in –         –         –        ',
      'signed_in –         –         –         –         –        ',
      'denied    –         –         –         –         –        ',
      'expired   –         –         –         –         –        ',
      'cancelled –         –         –         –         –        ',
    ]);
  });

  it('never reach the shop but through an approval', () => {
    const before = (Object.keys(NEXT) as Phase[]).filter((phase) => Object.values(NEXT[phase]).includes('signed_in'));
    expect(before).toEqual(['approved']);
    expect(decide(opened(), 'accepted').phase).toBe('waiting');
  });

  it('are set by the answer of the service, once', () => {
    const approved = applySession(opened(), { status: 'approved', latencyMs: 2_340 });
    expect(approved).toMatchObject({ phase: 'approved', latencyMs: 2_340 });
    expect(applySession(approved, { status: 'denied' })).toBe(approved);
    const waiting = opened();
    expect(applySession(waiting, { status: 'pending' })).toBe(waiting);
  });
});

describe('the judgement on a browser that wants in', () => {
  it.each([
    ['an approved session and the right secret', { status: 'approved' }, true, 'accepted'],
    ['an approved session and another secret', { status: 'approved' }, false, 'other_browser'],
    ['a pending session', { status: 'pending' }, true, 'pending'],
    ['a denied session', { status: 'denied' }, true, 'denied'],
    ['a cancelled session', { status: 'cancelled' }, true, 'cancelled'],
    ['no session any more', null, true, 'expired'],
  ] as const)('%s', (_, session, matches, judgement) => {
    expect(judge(session, matches)).toBe(judgement);
  });
});

describe('a code', () => {
  it('may be sent three times, with a pause after each', () => {
    const sent = codeSent(opened(), NOW);
    expect(viewOf(sent, NOW).code).toMatchObject({ sent: true, sendsLeft: 2, resendInMs: 30_000 });
    expect(viewOf(sent, NOW + 31_000).code.resendInMs).toBe(0);
    expect(viewOf(codeSent(codeSent(sent, NOW), NOW), NOW).code.sendsLeft).toBe(0);
  });

  it('is offered again when the pause that the service named is over', () => {
    expect(viewOf(codeWaits(opened(), NOW + 12_000), NOW).code.resendInMs).toBe(12_000);
  });

  it('counts down the attempts that the service leaves', () => {
    expect(viewOf(codeWrong(opened(), 3), NOW).code.attemptsLeft).toBe(3);
  });

  it('approves a login that waits, and only that', () => {
    expect(codeAccepted(opened())).toMatchObject({ phase: 'approved', code: { accepted: true } });
    const denied = decide(opened(), 'denied');
    expect(codeAccepted(denied)).toBe(denied);
  });
});

describe('the view for the browser', () => {
  it('holds no id of the session', () => {
    expect(JSON.stringify(viewOf(opened(), NOW))).not.toContain('sess_');
  });

  it('has spans instead of times', () => {
    expect(viewOf(opened(), NOW + 30_000)).toMatchObject({ ttlMs: 90_000, expiresInMs: 60_000 });
    expect(viewOf(opened(), NOW + 100_000).expiresInMs).toBe(0);
  });

  it('forgets the link and the number to match when there is nothing left to answer', () => {
    const login = opened({ channel: 'rcs', fallbackUri: null, matchCode: '42' });
    expect(viewOf(login, NOW).matchCode).toBe('42');
    expect(viewOf(decide(login, 'denied'), NOW).matchCode).toBeNull();
    expect(viewOf(decide(opened(), 'approved'), NOW).fallbackUri).toBeNull();
  });
});

it('a login whose session could not be polled expires some time after its end', () => {
  expect(isOverdue(opened(), NOW + 90_000)).toBe(false);
  expect(isOverdue(opened(), NOW + 106_000)).toBe(true);
  expect(isOverdue(decide(opened(), 'approved'), NOW + 106_000)).toBe(false);
});
