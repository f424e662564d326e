import type { ReadyForCode } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { describe, expect, it } from 'vitest';
import type { GuardRefusal } from '../guard/guard-rules.js';
import { SendBatch, type AskedSend, type SendDecision } from './send-batch.js';

const NOW = new Date('2024-05-01T12:00:00Z');
const PHONE = '+14155552671';

const sessionOf = (changes: Partial<Session> = {}): Session => ({
  id: 'one',
  accountId: 'account',
  brandId: 'brand',
  phone: PHONE,
  country: 'US',
  test: false,
  status: 'pending',
  channel: 'sms_fallback',
  clientChallenge: 'ab'.repeat(32),
  brandSlug: 'ACME',
  brandName: 'Acme',
  otpSender: null,
  otpDomain: null,
  instruction: 'Send this.',
  inboundNumber: '+14155550100',
  webhookUrl: null,
  allowSmsOtp: true,
  metadata: [],
  entropyKeyVersion: 1,
  keyVersion: 1,
  createdAt: NOW,
  expiresAt: new Date(NOW.getTime() + 90_000),
  endedAt: null,
  ...changes,
});
const readyOf = (changes: Partial<Session> = {}, history: Partial<ReadyForCode> = {}): ReadyForCode => ({
  kind: 'ready',
  session: sessionOf(changes),
  now: NOW,
  sends: 0,
  sentAt: null,
  ...history,
});
const ask = (readiness: AskedSend['readiness'], changes: Partial<AskedSend> = {}): AskedSend => ({
  messageId: 'message',
  readiness,
  queuedTo: null,
  ...changes,
});

const BLOCKED: GuardRefusal = { kind: 'blocked', rule: 'country', trips: false };
const CAPPED: GuardRefusal = { kind: 'capped', rule: 'phone_hourly', until: new Date(NOW.getTime() + 1_500) };

/** A batch under a guard that says this, and how many sends were counted. */
class GuardedBatch {
  entered = 0;
  readonly batch: SendBatch;

  constructor(refusal: GuardRefusal | null, reachable: readonly string[]) {
    const enter = (): void => {
      this.entered += 1;
    };
    this.batch = new SendBatch({ judge: () => refusal, enter }, new Set(reachable));
  }

  decide(asked: AskedSend): SendDecision {
    return this.batch.decide(asked);
  }
}

const batchOf = (refusal: GuardRefusal | null = null, reachable: readonly string[] = [PHONE]): GuardedBatch =>
  new GuardedBatch(refusal, reachable);

const codeOf = (decision: SendDecision): string =>
  decision.kind === 'refused' ? decision.refusal.code : decision.kind;

describe('a send', () => {
  const spent = { sends: 3, sentAt: new Date(NOW.getTime() - 60_000) };
  const recent = { sends: 1, sentAt: new Date(NOW.getTime() - 10_000) };

  it.each<readonly [string, string, AskedSend, GuardRefusal | null, string[]]>([
    ['goes where nothing stands in its way', 'send', ask(readyOf()), null, [PHONE]],
    [
      'was sent before, whatever became of the session',
      'known',
      ask({ kind: 'not_found' }, { queuedTo: PHONE }),
      BLOCKED,
      [],
    ],
    ['has no session', 'SESSION_NOT_FOUND', ask({ kind: 'not_found' }), null, [PHONE]],
    ['of a session that ended', 'SESSION_NOT_PENDING', ask({ kind: 'not_pending', status: 'denied' }), BLOCKED, []],
    ['to a blocked destination, before every limit', 'DESTINATION_BLOCKED', ask(readyOf({}, spent)), BLOCKED, []],
    [
      'past three in its session, before the caps of the phone',
      'SEND_LIMIT_REACHED',
      ask(readyOf({}, spent)),
      CAPPED,
      [],
    ],
    ['too soon after the last', 'RATE_LIMITED', ask(readyOf({}, recent)), CAPPED, []],
    ['past a cap of the phone, before the route', 'SEND_LIMIT_REACHED', ask(readyOf()), CAPPED, []],
    ['without a route', 'SERVICE_UNAVAILABLE', ask(readyOf()), null, []],
    ['of a test key needs neither guard nor route', 'send', ask(readyOf({ test: true })), BLOCKED, []],
    ['of a test key keeps the session’s limits', 'RATE_LIMITED', ask(readyOf({ test: true }, recent)), null, []],
    [
      'of a test key to the number that is blocked',
      'DESTINATION_BLOCKED',
      ask(readyOf({ test: true, phone: '+15005550008' }, recent)),
      null,
      [],
    ],
  ])('%s: %s', (_, expected, asked, refusal, reachable) => {
    expect(codeOf(batchOf(refusal, reachable).decide(asked))).toBe(expected);
  });

  it('is told of by the guard where the guard refused it, with the seconds to the end of its cap', () => {
    const decision = batchOf(CAPPED).decide(ask(readyOf()));
    expect(decision).toMatchObject({ refusal: { retryAfterSeconds: 2 }, guarded: { refusal: CAPPED } });
    expect(batchOf(BLOCKED).decide(ask(readyOf()))).toMatchObject({ guarded: { refusal: BLOCKED } });
    expect(batchOf().decide(ask(readyOf({}, spent)))).not.toHaveProperty('guarded');
  });

  it('is counted when it goes, and only then', () => {
    const going = batchOf();
    going.decide(ask(readyOf()));
    expect(going.entered).toBe(1);
    for (const kept of [batchOf(BLOCKED), batchOf(CAPPED), batchOf(null, [])]) {
      kept.decide(ask(readyOf()));
      expect(kept.entered).toBe(0);
    }
  });
});

describe('sends of one moment', () => {
  it('in one session: the first goes, the others come too soon, and the same one again is the same', () => {
    const batch = batchOf();
    const decisions = ['a', 'b', 'a'].map((messageId) => batch.decide(ask(readyOf(), { messageId })));
    expect(decisions.map(codeOf)).toEqual(['send', 'RATE_LIMITED', 'known']);
    expect(codeOf(batch.decide(ask(readyOf({ id: 'two' }), { messageId: 'c' })))).toBe('send');
  });
});
