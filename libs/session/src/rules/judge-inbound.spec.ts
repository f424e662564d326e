import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApprovedBy, SessionStatus } from './session.js';
import { judgeInbound, type InboundCase, type LockedSession } from './judge-inbound.js';

const NOW = 1_700_000_000_000;
const PHONE = '+14155552671';
const STRANGER = '+442071838750';

function session(id: string, changes: Partial<LockedSession> = {}): LockedSession {
  return {
    id,
    accountId: 'account',
    phone: PHONE,
    status: 'pending',
    approvedBy: null,
    expiresAtMs: NOW + 1,
    nowMs: NOW,
    mismatchSeen: false,
    ...changes,
  };
}

const mo = (digests: readonly string[], changes: Partial<InboundCase> = {}): InboundCase => ({
  digests,
  senders: [PHONE],
  trusted: true,
  ...changes,
});

/** The test's sessions have a digest equal to their id. */
const sessionsByDigest = (...sessions: readonly LockedSession[]): ReadonlyMap<string, LockedSession> =>
  new Map(sessions.map((each) => [each.id, each]));

const fates = (cases: readonly InboundCase[], ...sessions: readonly LockedSession[]): readonly string[] =>
  judgeInbound(cases, sessionsByDigest(...sessions)).verdicts.map(({ fate }) => fate);

describe('judgeInbound', () => {
  it('approves a live session for its own phone', () => {
    expect(judgeInbound([mo(['s1'])], sessionsByDigest(session('s1')))).toEqual({
      verdicts: [{ fate: 'matched', sessionId: 's1', accountId: 'account' }],
      approve: ['s1'],
      mismatch: [],
    });
  });

  it.each<[fate: string, what: string, changes: Partial<LockedSession>]>([
    ['duplicate', 'approved by an SMS', { status: 'approved', approvedBy: 'mo' }],
    ['ended', 'approved by the card', { status: 'approved', approvedBy: 'rcs' }],
    ['ended', 'approved by a code', { status: 'approved', approvedBy: 'otp' }],
    ['ended', 'denied', { status: 'denied' }],
    ['ended', 'cancelled', { status: 'cancelled' }],
    ['ended', 'cancelled and past its time', { status: 'cancelled', expiresAtMs: NOW - 1 }],
    ['expired', 'expired', { status: 'expired', expiresAtMs: NOW - 1 }],
    ['expired', 'pending in the millisecond of expiresAt', { expiresAtMs: NOW }],
    ['matched', 'pending one millisecond before expiresAt', { expiresAtMs: NOW + 1 }],
  ])('gives %s for a session that is %s', (fate, _, changes) => {
    const { verdicts, approve } = judgeInbound([mo(['s1'])], sessionsByDigest(session('s1', changes)));
    expect(verdicts).toEqual([{ fate, sessionId: 's1', accountId: 'account' }]);
    expect(approve).toEqual(fate === 'matched' ? ['s1'] : []);
  });

  it('finds no session for a message without a token, from an untrusted link, or with an unknown token', () => {
    const none = { sessionId: null, accountId: null };
    const cases = [mo([]), mo(['s1'], { trusted: false }), mo(['s2']), mo([], { trusted: false })];
    expect(judgeInbound(cases, sessionsByDigest(session('s1')))).toEqual({
      verdicts: [
        { fate: 'no_token', ...none },
        { fate: 'untrusted', ...none },
        { fate: 'unknown_token', ...none },
        { fate: 'no_token', ...none },
      ],
      approve: [],
      mismatch: [],
    });
  });

  it('approves once when the same message arrives five times in one batch', () => {
    const cases = Array.from({ length: 5 }, () => mo(['s1']));
    expect(fates(cases, session('s1'))).toEqual(['matched', 'duplicate', 'duplicate', 'duplicate', 'duplicate']);
    expect(judgeInbound(cases, sessionsByDigest(session('s1'))).approve).toEqual(['s1']);
  });

  it('accepts any of several candidates for the sender, and only complete numbers', () => {
    expect(fates([mo(['s1'], { senders: [STRANGER, PHONE] })], session('s1'))).toEqual(['matched']);
    expect(fates([mo(['s1'], { senders: [] })], session('s1'))).toEqual(['wrong_sender']);
    expect(fates([mo(['s1'], { senders: ['4155552671'] })], session('s1'))).toEqual(['wrong_sender']);
  });

  it('reports a wrong sender once per live session, and the right one may still approve it', () => {
    const stranger = mo(['s1'], { senders: [STRANGER] });
    const { verdicts, approve, mismatch } = judgeInbound(
      [stranger, stranger, mo(['s1']), stranger],
      sessionsByDigest(session('s1')),
    );
    expect(verdicts.map(({ fate }) => fate)).toEqual(['wrong_sender', 'wrong_sender', 'matched', 'wrong_sender']);
    expect(approve).toEqual(['s1']);
    expect(mismatch).toEqual(['s1']);
  });

  it.each<[what: string, changes: Partial<LockedSession>]>([
    ['reported before', { mismatchSeen: true }],
    ['ended', { status: 'cancelled' }],
    ['past its time', { expiresAtMs: NOW }],
  ])('does not report a wrong sender on a session that was %s', (_, changes) => {
    const stranger = mo(['s1'], { senders: [STRANGER] });
    const { verdicts, mismatch } = judgeInbound([stranger], sessionsByDigest(session('s1', changes)));
    expect(verdicts.map(({ fate }) => fate)).toEqual(['wrong_sender']);
    expect(mismatch).toEqual([]);
  });

  it('does not report a wrong sender after the approval in the same batch', () => {
    const { mismatch } = judgeInbound(
      [mo(['s1']), mo(['s1'], { senders: [STRANGER] })],
      sessionsByDigest(session('s1')),
    );
    expect(mismatch).toEqual([]);
  });

  it.each<[what: string, changes: Partial<LockedSession>]>([
    ['pending', {}],
    ['approved by an SMS', { status: 'approved', approvedBy: 'mo' }],
    ['cancelled', { status: 'cancelled' }],
    ['past its time', { expiresAtMs: NOW }],
  ])('gives ambiguous_sender for a session that is %s, approves nothing and reports no mismatch', (_, changes) => {
    const ambiguous = mo(['s1'], { senders: [], ambiguousSender: true });
    const { verdicts, approve, mismatch } = judgeInbound([ambiguous], sessionsByDigest(session('s1', changes)));
    expect(verdicts).toEqual([{ fate: 'ambiguous_sender', sessionId: 's1', accountId: 'account' }]);
    expect([approve, mismatch]).toEqual([[], []]);
  });

  it('rejects an ambiguous sender even when its candidates are given', () => {
    const { verdicts, approve } = judgeInbound(
      [mo(['s1'], { ambiguousSender: true })],
      sessionsByDigest(session('s1')),
    );
    expect([verdicts[0]?.fate, approve]).toEqual(['ambiguous_sender', []]);
  });

  it('checks token, trust and session before the sender', () => {
    const ambiguous = { senders: [], ambiguousSender: true };
    const cases = [mo([], ambiguous), mo(['s1'], { ...ambiguous, trusted: false }), mo(['s2'], ambiguous)];
    expect(fates(cases, session('s1'))).toEqual(['no_token', 'untrusted', 'unknown_token']);
    expect(fates([mo(['s2', 's1'], ambiguous)], session('s1'))).toEqual(['ambiguous_sender']);
  });

  it('gives a message with several tokens the best fate of its tokens', () => {
    const others = [
      session('ended', { status: 'denied' }),
      session('late', { expiresAtMs: NOW }),
      session('foreign', { phone: STRANGER }),
      session('live'),
      session('again', { status: 'approved', approvedBy: 'mo' }),
    ];
    expect(fates([mo(['ended', 'late', 'live'])], ...others)).toEqual(['matched']);
    expect(fates([mo(['late', 'again', 'ended'])], ...others)).toEqual(['duplicate']);
    expect(fates([mo(['unknown', 'foreign', 'late'])], ...others)).toEqual(['expired']);
    expect(fates([mo(['unknown', 'foreign'])], ...others)).toEqual(['wrong_sender']);
  });

  it('approves one session per message, that of the first matching token', () => {
    const { verdicts, approve } = judgeInbound([mo(['s2', 's1'])], sessionsByDigest(session('s1'), session('s2')));
    expect(verdicts).toEqual([{ fate: 'matched', sessionId: 's2', accountId: 'account' }]);
    expect(approve).toEqual(['s2']);
  });

  it('approves only live sessions, each once, and as many as there are matched messages', () => {
    const status = fc.constantFrom<SessionStatus>('pending', 'approved', 'denied', 'cancelled', 'expired');
    const by = fc.constantFrom<ApprovedBy | null>(null, 'mo', 'rcs', 'otp');
    const sessions = fc.array(
      fc.record({
        status,
        approvedBy: by,
        phone: fc.constantFrom(PHONE, STRANGER),
        left: fc.integer({ min: -2, max: 2 }),
      }),
      { minLength: 1, maxLength: 5 },
    );
    const digest = fc.constantFrom('s0', 's1', 's2', 's3', 's4', 'unknown');
    const cases = fc.array(
      fc.record({
        digests: fc.array(digest, { maxLength: 3 }),
        senders: fc.subarray([PHONE, STRANGER]),
        ambiguousSender: fc.boolean(),
        trusted: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(sessions, cases, (rows, messages) => {
        const known = sessionsByDigest(
          ...rows.map(({ left, ...row }, at) => session(`s${at}`, { ...row, expiresAtMs: NOW + left })),
        );
        const { verdicts, approve, mismatch } = judgeInbound(messages, known);
        expect(verdicts).toHaveLength(messages.length);
        expect(verdicts.filter(({ fate }) => fate === 'matched').map(({ sessionId }) => sessionId)).toEqual(approve);
        expect(new Set(approve).size).toBe(approve.length);
        const ofAmbiguous = verdicts.filter((_, at) => messages[at]?.ambiguousSender === true);
        expect(ofAmbiguous.map(({ fate }) => fate)).not.toContain('matched');
        for (const id of [...approve, ...mismatch]) {
          const row = known.get(id);
          expect(row?.status).toBe('pending');
          expect(row?.expiresAtMs).toBeGreaterThan(NOW);
        }
      }),
    );
  });
});
