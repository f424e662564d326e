import type { ReadyForCode } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { describe, expect, it } from 'vitest';
import type { GuardRefusal } from '../guard/guard-rules.js';
import { SendBatch, type SendRequest, type SendDecision } from './send-batch.js';

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
const requestOf = (readiness: SendRequest['readiness'], changes: Partial<SendRequest> = {}): SendRequest => ({
  messageId: 'message',
  readiness,
  queuedTo: null,
  ...changes,
});

const BLOCKED: GuardRefusal = { kind: 'blocked', rule: 'country', trips: false };
const CAPPED: GuardRefusal = { kind: 'capped', rule: 'phone_hourly', until: new Date(NOW.getTime() + 1_500) };

/** A batch under a guard that always returns `refusal`. `added` counts the sends that the guard counted. */
class GuardedBatch {
  added = 0;
  readonly batch: SendBatch;

  constructor(refusal: GuardRefusal | null, reachable: readonly string[]) {
    const addSend = (): void => {
      this.added += 1;
    };
    this.batch = new SendBatch({ checkSend: () => refusal, addSend }, new Set(reachable));
  }

  decide(request: SendRequest): SendDecision {
    return this.batch.decide(request);
  }
}

const batchOf = (refusal: GuardRefusal | null = null, reachable: readonly string[] = [PHONE]): GuardedBatch =>
  new GuardedBatch(refusal, reachable);

const codeOf = (decision: SendDecision): string =>
  decision.kind === 'refused' ? decision.refusal.code : decision.kind;

describe('a request to send a code', () => {
  const spent = { sends: 3, sentAt: new Date(NOW.getTime() - 60_000) };
  const recent = { sends: 1, sentAt: new Date(NOW.getTime() - 10_000) };

  it.each<readonly [string, string, SendRequest, GuardRefusal | null, string[]]>([
    ['is sent when no rule refuses it', 'send', requestOf(readyOf()), null, [PHONE]],
    [
      'whose message is already queued succeeds, whatever the session is now',
      'known',
      requestOf({ kind: 'not_found' }, { queuedTo: PHONE }),
      BLOCKED,
      [],
    ],
    ['without a session', 'SESSION_NOT_FOUND', requestOf({ kind: 'not_found' }), null, [PHONE]],
    ['of an ended session', 'SESSION_NOT_PENDING', requestOf({ kind: 'not_pending', status: 'denied' }), BLOCKED, []],
    [
      'to a blocked destination is refused before every limit',
      'DESTINATION_BLOCKED',
      requestOf(readyOf({}, spent)),
      BLOCKED,
      [],
    ],
    [
      'after three codes of its session is refused before the caps of the phone',
      'SEND_LIMIT_REACHED',
      requestOf(readyOf({}, spent)),
      CAPPED,
      [],
    ],
    ['within the cooldown', 'RATE_LIMITED', requestOf(readyOf({}, recent)), CAPPED, []],
    ['above a cap of the phone is refused before the route', 'SEND_LIMIT_REACHED', requestOf(readyOf()), CAPPED, []],
    ['without a route', 'SERVICE_UNAVAILABLE', requestOf(readyOf()), null, []],
    ['of a test key passes without guard and route', 'send', requestOf(readyOf({ test: true })), BLOCKED, []],
    [
      'of a test key has the limits of its session',
      'RATE_LIMITED',
      requestOf(readyOf({ test: true }, recent)),
      null,
      [],
    ],
    [
      'of a test key to the blocked test number',
      'DESTINATION_BLOCKED',
      requestOf(readyOf({ test: true, phone: '+15005550008' }, recent)),
      null,
      [],
    ],
  ])('%s: %s', (_, expected, request, refusal, reachable) => {
    expect(codeOf(batchOf(refusal, reachable).decide(request))).toBe(expected);
  });

  it('that the guard refused has the refusal to record, and the seconds to the end of the cap', () => {
    const decision = batchOf(CAPPED).decide(requestOf(readyOf()));
    expect(decision).toMatchObject({ refusal: { retryAfterSeconds: 2 }, guarded: { refusal: CAPPED } });
    expect(batchOf(BLOCKED).decide(requestOf(readyOf()))).toMatchObject({ guarded: { refusal: BLOCKED } });
    expect(batchOf().decide(requestOf(readyOf({}, spent)))).not.toHaveProperty('guarded');
  });

  it('is counted only when it is sent', () => {
    const sent = batchOf();
    sent.decide(requestOf(readyOf()));
    expect(sent.added).toBe(1);
    for (const refused of [batchOf(BLOCKED), batchOf(CAPPED), batchOf(null, [])]) {
      refused.decide(requestOf(readyOf()));
      expect(refused.added).toBe(0);
    }
  });
});

describe('requests in one batch', () => {
  it('for one session: the first is sent, another is within the cooldown, and a repetition of the first succeeds', () => {
    const batch = batchOf();
    const decisions = ['a', 'b', 'a'].map((messageId) => batch.decide(requestOf(readyOf(), { messageId })));
    expect(decisions.map(codeOf)).toEqual(['send', 'RATE_LIMITED', 'known']);
    expect(codeOf(batch.decide(requestOf(readyOf({ id: 'two' }), { messageId: 'c' })))).toBe('send');
  });
});
