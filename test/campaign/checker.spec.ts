import { describe, expect, it } from 'vitest';
import { findViolations, type Invariant, INVARIANTS } from './checker.js';
import type { FinalCode, FinalEvent, FinalMessage, FinalRows, FinalSession } from './final-rows.js';
import { type History, newSession, type ReceivedEvent, type SessionHistory } from './history.js';
import { Random } from '../support/random.js';

type Changeable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/** A run that can be broken before it is checked. */
interface Run {
  readonly history: Omit<Changeable<History>, 'sessions' | 'webhooks' | 'frames'> & {
    sessions: SessionHistory[];
    webhooks: Changeable<ReceivedEvent>[];
    frames: Changeable<ReceivedEvent>[];
  };
  readonly rows: {
    readonly sessions: Changeable<FinalSession>[];
    readonly messages: Changeable<FinalMessage>[];
    readonly events: Changeable<FinalEvent>[];
    readonly codes: Changeable<FinalCode>[];
  };
}

const BEFORE = new Date('2026-01-31T12:00:00Z');
const END = new Date('2026-01-31T12:05:00Z');
const AFTER = new Date('2026-01-31T12:05:01Z');
const [BY_MO, BY_CODE, CANCELLED, BY_CARD, DENIED] = [0, 1, 2, 3, 4] as const;

/** Five sessions: one approved by an MO, one by a code after a wrong one, one cancelled, two ended by their cards. */
function honestRun(): Run {
  const phones = ['+14155550001', '+14155550002', '+14155550003', '+14155550004', '+14155550005'];
  const statuses = ['approved', 'approved', 'cancelled', 'approved', 'denied'];
  const sessions = phones.map((phone, at) => {
    const session = newSession(phone);
    session.ids.add(`s${at}`);
    session.statuses.push('pending', statuses[at] ?? '');
    if (statuses[at] === 'approved') session.entropies.add(`entropy of ${phone}`);
    return session;
  });
  sessions[BY_MO]?.messages.push(null, 0x14, 0);
  sessions[BY_CODE]?.codes.push('123456');
  sessions[BY_CODE]?.checks.push({ code: '123457', answer: 'wrong' }, { code: '123456', answer: 'approved' });
  if (sessions[BY_CODE] !== undefined) sessions[BY_CODE].codeAccepted = true;
  sessions[CANCELLED]?.cancels.push('unknown', 'done');
  at(sessions, BY_CARD).tap = { choice: 'approve', acceptedAt: BEFORE };
  at(sessions, DENIED).tap = { choice: 'deny', acceptedAt: BEFORE };
  const types = ['completed', 'completed', 'cancelled', 'completed', 'denied'].map((end) => `verification.${end}`);
  const events = (): Changeable<ReceivedEvent>[] =>
    types.map((type, at) => ({ eventId: `e${at}`, type, sessionId: `s${at}`, status: statuses[at] ?? '' }));
  return {
    history: {
      sessions,
      webhooks: events(),
      frames: events(),
      hasGap: false,
      usageTotal: 5,
      leaks: [],
    },
    rows: {
      sessions: phones.map((phone, at) => ({
        id: `s${at}`,
        phone,
        status: statuses[at] ?? '',
        approvedBy: ['mo', 'otp', null, 'rcs', null][at] ?? null,
        expiresAt: END,
        endedAt: BEFORE,
        wrongCodes: at === BY_CODE ? 1 : 0,
      })),
      messages: [{ phone: '+14155550001', sessionId: 's0', fate: 'matched', receivedAt: BEFORE }],
      events: types.map((type, at) => ({
        id: `e${at}`,
        type,
        sessionId: `s${at}`,
        isDispatched: true,
        delivery: 'succeeded',
      })),
      codes: [{ sessionId: 's1', state: 'submitted', attempts: 1 }],
    },
  };
}

function at<Value>(values: readonly Value[], index: number): Value {
  const value = values[index];
  if (value === undefined) throw new Error(`there is no element ${index}`);
  return value;
}

const BROKEN: readonly (readonly [Invariant, string, (run: Run) => unknown])[] = [
  ['oneEnd', 'a second event of an end', ({ rows }) => rows.events.push({ ...at(rows.events, 0), id: 'e9' })],
  ['oneEnd', 'no event of an end', ({ rows }) => rows.events.shift()],
  ['oneEnd', 'an event of another end', ({ rows }) => (at(rows.events, 2).type = 'verification.expired')],
  ['oneEnd', 'another status read before', ({ history }) => at(history.sessions, 0).statuses.unshift('expired')],
  ['oneEnd', 'pending read after the end', ({ history }) => at(history.sessions, 0).statuses.push('pending')],
  ['messageStored', 'an MO that is gone', ({ history }) => at(history.sessions, 0).messages.push(0)],
  ['evidence', 'an MO of another session', ({ rows }) => (at(rows.messages, 0).sessionId = 's1')],
  ['evidence', 'an MO that did not match', ({ rows }) => (at(rows.messages, 0).fate = 'duplicate')],
  [
    'evidence',
    'a code that nobody received',
    ({ history }) => at(history.sessions, BY_CODE).codes.splice(0, 1, '999999'),
  ],
  ['evidence', 'no check of the code', ({ history }) => at(history.sessions, BY_CODE).checks.pop()],
  ['evidence', 'an approval by a card that nobody tapped', ({ history }) => (at(history.sessions, BY_CARD).tap = null)],
  [
    'evidence',
    'an approval by a tap on Deny',
    ({ history }) => (at(history.sessions, BY_CARD).tap = { choice: 'deny', acceptedAt: BEFORE }),
  ],
  ['evidence', 'a denial without a tap', ({ history }) => (at(history.sessions, DENIED).tap = null)],
  ['evidence', 'an approval without a kind', ({ rows }) => (at(rows.sessions, BY_CODE).approvedBy = 'rcs')],
  [
    'approvalKept',
    'a matched MO whose session is cancelled',
    ({ rows }) => rows.messages.push({ phone: '+14155550003', sessionId: 's2', fate: 'matched', receivedAt: BEFORE }),
  ],
  [
    'approvalKept',
    'an accepted code whose session is cancelled',
    ({ history }) => at(history.sessions, CANCELLED).checks.push({ code: '1', answer: 'approved' }),
  ],
  [
    'approvalKept',
    'an accepted tap whose session is cancelled',
    ({ history }) => (at(history.sessions, CANCELLED).tap = { choice: 'approve', acceptedAt: BEFORE }),
  ],
  ['eventDelivered', 'an event that waits', ({ rows }) => (at(rows.events, 0).isDispatched = false)],
  ['eventDelivered', 'a delivery that failed', ({ rows }) => (at(rows.events, 0).delivery = 'failed')],
  ['eventDelivered', 'an event without a delivery', ({ rows }) => (at(rows.events, 0).delivery = null)],
  ['eventDelivered', 'a webhook that did not come', ({ history }) => history.webhooks.shift()],
  [
    'eventDelivered',
    'a second event id',
    ({ history }) => history.webhooks.push({ ...at(history.webhooks, 0), eventId: 'e9' }),
  ],
  ['eventShown', 'a frame that did not come', ({ history }) => history.frames.shift()],
  ['eventShown', 'a frame of another end', ({ history }) => (at(history.frames, 0).status = 'expired')],
  ['inTime', 'an approval after the end', ({ rows }) => (at(rows.sessions, 0).endedAt = AFTER)],
  ['inTime', 'an MO after the end', ({ rows }) => (at(rows.messages, 0).receivedAt = AFTER)],
  ['guesses', 'a sixth wrong code', ({ rows }) => (at(rows.sessions, BY_CODE).wrongCodes = 6)],
  [
    'guesses',
    'six answers of a wrong code',
    ({ history }) =>
      Array.from({ length: 5 }, () => at(history.sessions, 1).checks.unshift({ code: '000000', answer: 'wrong' })),
  ],
  ['entropy', 'two values of a phone', ({ history }) => at(history.sessions, 0).entropies.add('another')],
  ['usage', 'a session that is not counted', ({ history }) => (history.usageTotal = 4)],
  ['secrets', 'a token in a log', ({ history }) => (history.leaks = [{ file: 'gateway-1.log', kind: 'a token' }])],
  ['answered', 'a session that is gone', ({ rows }) => rows.sessions.pop()],
  [
    'answered',
    'a create that took effect twice',
    ({ rows }) => rows.sessions.push({ ...at(rows.sessions, 2), id: 's9' }),
  ],
  ['answered', 'two answers to one key', ({ history }) => at(history.sessions, 0).ids.add('s9')],
  ['codes', 'a code that is not stored', ({ rows }) => rows.codes.pop()],
  ['codes', 'an SMS more than claims', ({ history }) => at(history.sessions, BY_CODE).codes.push('123456')],
  [
    'codes',
    'a third SMS of a code',
    ({ history, rows }) => {
      at(rows.codes, 0).attempts = 9;
      at(history.sessions, BY_CODE).codes.push('123456', '123456');
    },
  ],
  ['codes', 'a sent code that nobody received', ({ history }) => at(history.sessions, BY_CODE).codes.pop()],
];

describe('the checker', () => {
  it('finds nothing in a run that kept every promise', () => {
    const { history, rows } = honestRun();
    expect(findViolations(history, rows satisfies FinalRows)).toEqual([]);
  });

  it.each(BROKEN)('finds that %s is broken by %s', (invariant, _what, damage) => {
    const run = honestRun();
    damage(run);
    expect(findViolations(run.history, run.rows).map((found) => found.invariant)).toContain(invariant);
  });

  it('is tried with every promise', () => {
    expect(new Set(BROKEN.map(([invariant]) => invariant))).toEqual(new Set(Object.keys(INVARIANTS)));
  });

  it('expects nothing of a tap that was accepted after the end, or never', () => {
    for (const acceptedAt of [AFTER, null]) {
      const { history, rows } = honestRun();
      at(history.sessions, CANCELLED).tap = { choice: 'approve', acceptedAt };
      expect(findViolations(history, rows)).toEqual([]);
    }
  });

  it('takes an approval by a check whose answer was lost for proven', () => {
    const { history, rows } = honestRun();
    at(history.sessions, BY_CODE).checks.splice(1, 1, { code: '123456', answer: 'unknown' });
    expect(findViolations(history, rows)).toEqual([]);
  });
});

describe('the random numbers', () => {
  const drawn = (seed: number): number[] => {
    const random = new Random(seed);
    return Array.from({ length: 1_000 }, () => random.below(1_000));
  };

  it('are the same for the same seed, and others for another', () => {
    expect(drawn(7)).toEqual(drawn(7));
    expect(drawn(8)).not.toEqual(drawn(7));
  });

  it('are spread over their range', () => {
    const numbers = drawn(7);
    expect(Math.min(...numbers)).toBeLessThan(20);
    expect(Math.max(...numbers)).toBeGreaterThan(979);
    expect(new Set(numbers).size).toBeGreaterThan(500);
    const random = new Random(7);
    for (let turn = 0; turn < 1_000; turn += 1) expect([3, 4, 5]).toContain(random.between(3, 5));
  });
});
