import type { Brand } from '@countersign/accounts/accounts';
import type { OfferResult, Withdrawal } from '@countersign/rcs/offers';
import type { CardOutcome, FinalChannel } from '@countersign/rcs/rules';
import { TOPICS, type MessageHandler } from '@countersign/bus';
import { DatabaseUnavailable, DataError } from '@countersign/postgres';
import type { Session } from '@countersign/session/rules';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PausedWait } from '../http/pause-deadline.decorator.js';
import type { CardEnd } from '../operations/control-plane.metrics.js';
import { CardDecisionService } from './card-decision.service.js';
import { CardOutcomes } from './card-outcomes.js';
import { MatchNumberService } from './match-number.service.js';
import { OfferNotifier } from './offer.notifier.js';
import { RcsOfferService } from './rcs-offer.service.js';

const ID = '018f0000-0000-7000-8000-000000000001';
const PROCESS_ID = '018f0000-0000-7000-8000-0000000000aa';
const T_MS = 3_000;
const STARTED_AT = Date.UTC(2026, 0, 15, 10);

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const BRAND: Brand = {
  id: '018f0000-0000-7000-8000-000000000002',
  accountId: '018f0000-0000-7000-8000-000000000003',
  name: 'Acme',
  slug: 'ACME',
  instruction: 'Send this message.',
  logoUrl: null,
  rcsAgentId: 'acme_agent',
  rcsNumberMatching: true,
  senderId: null,
  domain: null,
  entropyKeyVersion: 1,
  active: true,
  requestedName: null,
  requestedSlug: null,
  requestedAt: null,
  requestRefusedAt: null,
};

const sessionOf = ({ ttlSeconds = 90, channel = 'sms_fallback' }: Answers): Session => ({
  id: ID,
  accountId: BRAND.accountId,
  brandId: BRAND.id,
  phone: '+14155552671',
  country: 'US',
  test: false,
  status: 'pending',
  channel,
  clientChallenge: 'ab'.repeat(32),
  brandSlug: 'ACME',
  brandName: 'Acme',
  otpSender: null,
  otpDomain: null,
  instruction: 'Send this message.',
  inboundNumber: '+14155550100',
  webhookUrl: null,
  allowSmsOtp: true,
  metadata: [],
  entropyKeyVersion: 1,
  keyVersion: 1,
  createdAt: new Date(STARTED_AT),
  expiresAt: new Date(STARTED_AT + ttlSeconds * 1000),
  endedAt: null,
});

/** The answers of the stores; `never` does not answer. */
interface Answers {
  readonly offer?: OfferResult | Error | 'never';
  readonly withdraw?: Withdrawal | Error;
  readonly settle?: FinalChannel | Error;
  /** The state of the card's row. */
  readonly state?: string;
  readonly brand?: Partial<Brand>;
  readonly ttlSeconds?: number;
  /** The channel of the session before; an earlier attempt may have decided it. */
  readonly channel?: FinalChannel;
  readonly deliveryWaitMs?: number;
  readonly queueAway?: boolean;
}

const resolveOrReject = <T>(answer: T | Error): Promise<T> =>
  answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);

/** Sends one card. `calls` are the calls to stores and notifier in order, `broadcast` the ids of broadcast offers. */
function sendOne(answers: Answers = {}) {
  const calls: string[] = [];
  const broadcast: string[] = [];
  const errors: unknown[] = [];
  const ends: CardEnd[] = [];
  let paused = 0;
  let settledAs: FinalChannel | null = null;
  let receive: MessageHandler = () => undefined;
  const answerCall = <T>(name: string, answer: T | Error): Promise<T> => {
    calls.push(name);
    return resolveOrReject(answer);
  };
  const { offer = { kind: 'offered' }, withdraw = 'withdrawn', settle = 'sms_fallback', state = 'unknown' } = answers;
  const failures = { about: () => (error: unknown) => void errors.push(error) };
  const database = {
    query: <Row>() => answerCall('read', [{ id: ID, state, finalChannel: settledAs } as Row]),
  };
  const bus = {
    subscribe: (topic: string, handler: MessageHandler) => {
      calls.push(topic);
      receive = handler;
      return { ready: Promise.resolve(), close: () => undefined };
    },
    publish: (_topic: string, ...[ids]: readonly unknown[]) => void broadcast.push(...(ids as string[])),
  };
  const store = {
    offerCard: () => (offer === 'never' ? new Promise<OfferResult>(() => undefined) : answerCall('offer', offer)),
    withdrawUnclaimed: () => answerCall('withdraw', withdraw),
    settleChannel: () => answerCall('settle', settle),
  };
  const queue = { notify: (ids: readonly string[]) => void calls.push(`notify ${ids.join()}`) };
  const notifier = new OfferNotifier(bus, queue, { away: answers.queueAway ?? false });
  const outcomes = new CardOutcomes(bus, database, { newId: () => PROCESS_ID }, failures);
  const service = new RcsOfferService(
    { nowMs: () => STARTED_AT },
    outcomes,
    new CardDecisionService(store, notifier, { rcsDeliveryWaitMs: answers.deliveryWaitMs ?? T_MS }, failures),
    new MatchNumberService({ matchCodeOf: () => '42' }, database, failures),
    { countCard: (end) => void ends.push(end), watch: () => undefined },
  );
  const pausedWait: PausedWait = async (_mostMs, wait) => {
    paused++;
    try {
      return await wait();
    } finally {
      paused--;
    }
  };
  const decided = service.sendCard(sessionOf(answers), { ...BRAND, ...answers.brand }, pausedWait);
  const send = (news: readonly CardOutcome['news'][]): void => {
    const payload = news.map((kind) => ({ id: ID, news: kind }));
    receive({
      topic: TOPICS.cardOutcomes(PROCESS_ID),
      octets: Buffer.from(JSON.stringify(payload)),
      json: () => payload,
    });
  };
  const settled = decided.then(
    () => true,
    () => true,
  );
  return {
    outcomes,
    calls,
    broadcast,
    errors,
    ends,
    decided,
    isPaused: () => paused > 0,
    isDecided: () => Promise.race([settled, Promise.resolve(false)]),
    after: (ms: number) => vi.advanceTimersByTimeAsync(ms),
    /** The row is written, then the message is sent. */
    deliver: (...news: CardOutcome['news'][]) => {
      settledAs = news.find((kind) => kind !== 'sent') ?? settledAs;
      send(news);
    },
    /** A message without anything in the row. */
    forge: (...news: CardOutcome['news'][]) => send(news),
  };
}

const FALLBACK = { channel: 'sms_fallback', matchCode: null };

describe('a session has no card', () => {
  it.each<[string, Answers]>([
    ['if its brand has no agent', { brand: { rcsAgentId: null } }],
    ['if it expires before the platform would stop the delivery', { ttlSeconds: 9 }],
  ])('%s', async (_, answers) => {
    const { decided, calls } = sendOne(answers);
    expect(await decided).toEqual(FALLBACK);
    expect(calls).toEqual([TOPICS.cardOutcomes(PROCESS_ID)]);
  });

  it.each(['too_many_cards', 'denied_before', 'agent_suspended', 'prefers_sms', 'unreachable', 'paused'] as const)(
    'if the offer is refused: %s',
    async (because) => {
      const { decided, calls, ends } = sendOne({ offer: { kind: 'refused', because } });
      expect(await decided).toEqual(FALLBACK);
      expect(calls.slice(1)).toEqual(['offer']);
      expect(ends).toEqual([because]);
    },
  );

  it('if the offer fails, with a reported error', async () => {
    const away = new DatabaseUnavailable('away');
    const { decided, errors, ends } = sendOne({ offer: away });
    expect(await decided).toEqual(FALLBACK);
    expect([errors, ends]).toEqual([[away], ['failed']]);
  });

  it('if the offer is written late, and no gateway is notified', async () => {
    const { decided, calls, after, ends } = sendOne({ offer: 'never' });
    await after(400);
    expect(await decided).toEqual(FALLBACK);
    expect(calls.slice(1)).toEqual([]);
    expect(ends).toEqual(['failed']);
  });
});

describe('a create whose card is offered', () => {
  it('broadcasts the offer at once, notifies a gateway without an outcome, and pauses the deadline', async () => {
    const { calls, broadcast, after, isPaused, isDecided } = sendOne();
    await after(149);
    expect([calls.slice(1), broadcast]).toEqual([['offer'], [ID]]);
    await after(200);
    expect([calls.slice(1), broadcast]).toEqual([['offer', `notify ${ID}`], [ID]]);
    expect([isPaused(), await isDecided()]).toEqual([true, false]);
  });

  it('withdraws the offer if no gateway has claimed it', async () => {
    const { decided, calls, after, ends } = sendOne();
    await after(350);
    expect(await decided).toEqual(FALLBACK);
    expect(calls.slice(2)).toEqual([`notify ${ID}`, 'withdraw']);
    expect(ends).toEqual(['not_taken']);
  });

  it('withdraws the offer sooner while the queue is away', async () => {
    const { decided, calls, after } = sendOne({ queueAway: true });
    await after(49);
    expect(calls.slice(2)).toEqual([`notify ${ID}`]);
    await after(1);
    expect(await decided).toEqual(FALLBACK);
    expect(calls.slice(1)).toEqual(['offer', `notify ${ID}`, 'withdraw']);
  });

  it('is rcs at once on this outcome', async () => {
    const { decided, calls, after, deliver } = sendOne();
    await after(20);
    deliver('sent', 'rcs');
    expect(await decided).toEqual({ channel: 'rcs', matchCode: '42' });
    expect(calls.slice(2)).toEqual(['read']);
  });

  it('ignores a message that the row does not confirm', async () => {
    for (const news of ['rcs', 'sms_fallback'] as const) {
      const { calls, after, forge, isDecided } = sendOne();
      await after(20);
      forge(news);
      await after(20);
      expect([calls.slice(2), await isDecided()]).toEqual([['read'], false]);
    }
  });

  it('falls back at once if the card was refused', async () => {
    const { decided, after, deliver, ends } = sendOne({ state: 'refused' });
    await after(20);
    deliver('sms_fallback');
    expect(await decided).toEqual(FALLBACK);
    expect(ends).toEqual(['not_sent']);
  });

  it('shows the number if the platform did not answer, because the card may still arrive', async () => {
    const { decided, after, deliver } = sendOne({ state: 'unknown' });
    await after(20);
    deliver('sms_fallback');
    expect(await decided).toEqual({ channel: 'sms_fallback', matchCode: '42' });
  });

  it('shows no number without number matching', async () => {
    const { decided, after, deliver } = sendOne({ brand: { rcsNumberMatching: false } });
    await after(20);
    deliver('rcs');
    expect(await decided).toEqual({ channel: 'rcs', matchCode: null });
  });

  it('waits T for the delivery after the send, and then settles the row', async () => {
    const { decided, calls, after, deliver, isDecided, ends } = sendOne({ state: 'sent' });
    await after(300);
    deliver('sent');
    await after(T_MS - 1);
    expect(await isDecided()).toBe(false);
    await after(1);
    expect(await decided).toEqual({ channel: 'sms_fallback', matchCode: '42' });
    expect(calls.slice(2)).toEqual([`notify ${ID}`, 'settle', `notify ${ID}`, 'read']);
    expect(ends).toEqual(['not_delivered']);
  });

  it('notifies a gateway to revoke an undelivered card, not a delivered one', async () => {
    for (const [settle, notified] of [
      ['sms_fallback', [`notify ${ID}`]],
      ['rcs', []],
    ] as const) {
      const { decided, calls, deliver } = sendOne({ settle, deliveryWaitMs: 0, brand: { rcsNumberMatching: false } });
      deliver('sent');
      await decided;
      expect(calls.slice(2)).toEqual(['settle', ...notified]);
    }
  });

  it('shows no number if its card was refused and the message was lost', async () => {
    const { decided, after } = sendOne({ withdraw: 'claimed', state: 'refused' });
    await after(2_150);
    expect(await decided).toEqual(FALLBACK);
  });

  it('is rcs if the row has this channel at the last deadline', async () => {
    const { decided, after, deliver } = sendOne({ settle: 'rcs' });
    await after(10);
    deliver('sent');
    await after(T_MS);
    expect(await decided).toEqual({ channel: 'rcs', matchCode: '42' });
  });

  it('waits for at most one fourth of the session', async () => {
    const { decided, after, deliver, isDecided } = sendOne({ ttlSeconds: 30, deliveryWaitMs: 8_000 });
    deliver('sent');
    await after(7_499);
    expect(await isDecided()).toBe(false);
    await after(1);
    expect(await decided).toMatchObject({ channel: 'sms_fallback' });
  });

  it('settles at once after the send with a wait of 0', async () => {
    const { decided, calls, after, deliver } = sendOne({ deliveryWaitMs: 0 });
    await after(10);
    deliver('sent');
    await decided;
    expect(calls.slice(2)).toEqual(['settle', `notify ${ID}`, 'read']);
  });
});

describe('a create without an outcome', () => {
  it('waits for a claimed card until a send must have ended', async () => {
    const { decided, calls, after, isDecided } = sendOne({ withdraw: 'claimed' });
    await after(350 + 1_500 + 249);
    expect([calls.slice(2), await isDecided()]).toEqual([[`notify ${ID}`, 'withdraw'], false]);
    await after(1);
    expect(await decided).toEqual({ channel: 'sms_fallback', matchCode: '42' });
    expect(calls.slice(3)).toEqual(['withdraw', 'settle', `notify ${ID}`, 'read']);
  });

  it('accepts late outcomes', async () => {
    const { decided, after, deliver } = sendOne({ withdraw: 'claimed' });
    await after(1_000);
    deliver('sent');
    await after(2_000);
    deliver('rcs');
    expect(await decided).toMatchObject({ channel: 'rcs' });
  });

  it.each<FinalChannel>(['rcs', 'sms_fallback'])('uses the channel of the row: %s', async (withdraw) => {
    const { decided, after } = sendOne({ withdraw });
    await after(350);
    expect(await decided).toMatchObject({ channel: withdraw });
  });
});

describe('the card of an earlier attempt', () => {
  it.each<[FinalChannel | null, string[]]>([
    ['rcs', []],
    ['sms_fallback', []],
    [null, ['settle', `notify ${ID}`]],
  ])('with the channel %s is not sent again', async (finalChannel, more) => {
    const { decided, calls } = sendOne({ offer: { kind: 'earlier', finalChannel }, state: 'sent' });
    expect(await decided).toEqual({ channel: finalChannel ?? 'sms_fallback', matchCode: '42' });
    expect(calls.slice(1).filter((each) => each !== 'read')).toEqual(['offer', ...more]);
  });
});

describe('a session that an earlier attempt set to RCS stays RCS', () => {
  it.each<[string, Answers]>([
    ['if its brand has no agent now', { brand: { rcsAgentId: null } }],
    ['if it expires soon', { ttlSeconds: 9 }],
    ['if the offer fails', { offer: new DatabaseUnavailable('away') }],
  ])('%s', async (_, answers) => {
    const { decided } = sendOne({ ...answers, channel: 'rcs' });
    expect(await decided).toMatchObject({ channel: 'rcs' });
  });
});

describe('if the row cannot be read', () => {
  it('because the database is unavailable, the create fails instead of giving a wrong answer', async () => {
    const away = new DatabaseUnavailable('away');
    const { decided, after } = sendOne({ withdraw: away });
    const refused = expect(decided).rejects.toBe(away);
    await after(350);
    await refused;
  });

  it('for another reason, the create continues without a card', async () => {
    const broken = new DataError('broken', '42P01', null);
    const { decided, after, deliver, errors } = sendOne({ settle: broken });
    deliver('sent');
    await after(T_MS);
    expect(await decided).toEqual(FALLBACK);
    expect(errors).toEqual([broken]);
  });
});

it('a stopping process ends all waits', async () => {
  const { outcomes, decided, calls, after } = sendOne({ withdraw: 'claimed' });
  await after(10);
  expect(outcomes.waiting).toBe(1);
  outcomes.stop();
  expect(await decided).toMatchObject({ channel: 'sms_fallback' });
  expect([calls.slice(3, 5), outcomes.waiting]).toEqual([['withdraw', 'settle'], 0]);
});
