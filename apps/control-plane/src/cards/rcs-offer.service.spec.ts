import type { Brand } from '@countersign/accounts/accounts';
import type { OfferResult, Withdrawal } from '@countersign/rcs/offers';
import { cardTopic, type CardOutcome, type FinalChannel } from '@countersign/rcs/rules';
import type { MessageHandler } from '@countersign/bus';
import { DatabaseUnavailable, DataError } from '@countersign/postgres';
import type { Session } from '@countersign/session/rules';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PausedWait } from '../http/pause-deadline.decorator.js';
import type { CardEnd } from '../operations/control-plane.metrics.js';
import { RcsOfferService } from './rcs-offer.service.js';

const ID = '018f0000-0000-7000-8000-000000000001';
const WAITER = '018f0000-0000-7000-8000-0000000000aa';
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
};

const sessionOf = ({ ttlSeconds = 90, channel = 'sms_fallback' }: Rows): Session => ({
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

/** What the rows say when they are asked; `never` does not answer. */
interface Rows {
  readonly offer?: OfferResult | Error | 'never';
  readonly withdraw?: Withdrawal | Error;
  readonly settle?: FinalChannel | Error;
  /** The state of the card's row. */
  readonly state?: string;
  readonly brand?: Partial<Brand>;
  readonly ttlSeconds?: number;
  /** Of the session before: of an earlier attempt it may be decided. */
  readonly channel?: FinalChannel;
  readonly deliveryWaitMs?: number;
  readonly unclaimed?: boolean;
}

const answering = <T>(answer: T | Error): Promise<T> =>
  answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);

/** A desk whose card was just asked for, all that was asked of the rows and the bell, in order, and who was called. */
function sending(rows: Rows = {}) {
  const asked: string[] = [];
  const called: string[] = [];
  const errors: unknown[] = [];
  const ends: CardEnd[] = [];
  let held = 0;
  let settledAs: FinalChannel | null = null;
  let hear: MessageHandler = () => undefined;
  const ask = <T>(name: string, answer: T | Error): Promise<T> => {
    asked.push(name);
    return answering(answer);
  };
  const { offer = { kind: 'offered' }, withdraw = 'withdrawn', settle = 'sms_fallback', state = 'unknown' } = rows;
  const desk = new RcsOfferService({
    store: {
      offer: () => (offer === 'never' ? new Promise(() => undefined) : ask('offer', offer)),
      withdrawUnclaimed: () => ask('withdraw', withdraw),
      settle: () => ask('settle', settle),
    },
    answers: { matchCodeOf: () => '42' },
    database: { query: <Row>() => ask('read', [{ id: ID, state, finalChannel: settledAs } as Row]) },
    bus: {
      subscribe: (topic, handler) => {
        asked.push(topic);
        hear = handler;
        return { ready: Promise.resolve(), close: () => undefined };
      },
    },
    waiter: WAITER,
    deliveryWaitMs: rows.deliveryWaitMs ?? T_MS,
    nowMs: () => STARTED_AT,
    call: (ids) => void called.push(...ids),
    notify: (ids) => void asked.push(`ring ${ids.join()}`),
    isUnclaimed: () => rows.unclaimed ?? false,
    onEnd: (end) => void ends.push(end),
    onError: (error) => void errors.push(error),
  });
  const patience: PausedWait = async (_mostMs, wait) => {
    held++;
    try {
      return await wait();
    } finally {
      held--;
    }
  };
  const decided = desk.send(sessionOf(rows), { ...BRAND, ...rows.brand }, patience);
  const send = (news: readonly CardOutcome['news'][]): void => {
    const payload = news.map((word) => ({ id: ID, news: word }));
    hear({ topic: cardTopic(WAITER), octets: Buffer.from(JSON.stringify(payload)), json: () => payload });
  };
  const settled = decided.then(
    () => true,
    () => true,
  );
  return {
    desk,
    asked,
    called,
    errors,
    ends,
    decided,
    isHeld: () => held > 0,
    isDecided: () => Promise.race([settled, Promise.resolve(false)]),
    after: (ms: number) => vi.advanceTimersByTimeAsync(ms),
    /** The row is written, then the message is sent. */
    tell: (...news: CardOutcome['news'][]) => {
      settledAs = news.find((word) => word !== 'sent') ?? settledAs;
      send(news);
    },
    /** A message without anything in the row. */
    forge: (...news: CardOutcome['news'][]) => send(news),
  };
}

const FALLBACK = { channel: 'sms_fallback', matchCode: null };

describe('a session gets no card', () => {
  it.each<[string, Rows]>([
    ['when its brand has no agent', { brand: { rcsAgentId: null } }],
    ['when it ends before the platform would stop delivering', { ttlSeconds: 9 }],
  ])('%s', async (_, rows) => {
    const { decided, asked } = sending(rows);
    expect(await decided).toEqual(FALLBACK);
    expect(asked).toEqual([cardTopic(WAITER)]);
  });

  it.each(['too_many_cards', 'denied_before', 'agent_suspended', 'prefers_sms', 'unreachable', 'paused'] as const)(
    'that is refused beforehand: %s',
    async (because) => {
      const { decided, asked, ends } = sending({ offer: { kind: 'refused', because } });
      expect(await decided).toEqual(FALLBACK);
      expect(asked.slice(1)).toEqual(['offer']);
      expect(ends).toEqual([because]);
    },
  );

  it('when the offer fails, which is reported', async () => {
    const away = new DatabaseUnavailable('away');
    const { decided, errors, ends } = sending({ offer: away });
    expect(await decided).toEqual(FALLBACK);
    expect([errors, ends]).toEqual([[away], ['failed']]);
  });

  it('when the offer is not written in time, and then nobody is rung for', async () => {
    const { decided, asked, after, ends } = sending({ offer: 'never' });
    await after(400);
    expect(await decided).toEqual(FALLBACK);
    expect(asked.slice(1)).toEqual([]);
    expect(ends).toEqual(['failed']);
  });
});

describe('a create whose card is offered', () => {
  it('calls for it at once, rings when nothing is heard, and is held', async () => {
    const { asked, called, after, isHeld, isDecided } = sending();
    await after(149);
    expect([asked.slice(1), called]).toEqual([['offer'], [ID]]);
    await after(200);
    expect([asked.slice(1), called]).toEqual([['offer', `ring ${ID}`], [ID]]);
    expect([isHeld(), await isDecided()]).toEqual([true, false]);
  });

  it('takes it back when no gateway has taken it', async () => {
    const { decided, asked, after, ends } = sending();
    await after(350);
    expect(await decided).toEqual(FALLBACK);
    expect(asked.slice(2)).toEqual([`ring ${ID}`, 'withdraw']);
    expect(ends).toEqual(['not_taken']);
  });

  it('takes it back soon when the bell cannot be heard', async () => {
    const { decided, asked, after } = sending({ unclaimed: true });
    await after(49);
    expect(asked.slice(2)).toEqual([`ring ${ID}`]);
    await after(1);
    expect(await decided).toEqual(FALLBACK);
    expect(asked.slice(1)).toEqual(['offer', `ring ${ID}`, 'withdraw']);
  });

  it('is rcs at once when it hears so', async () => {
    const { decided, asked, after, tell } = sending();
    await after(20);
    tell('sent', 'rcs');
    expect(await decided).toEqual({ channel: 'rcs', matchCode: '42' });
    expect(asked.slice(2)).toEqual(['read']);
  });

  it('does not believe a message that its row does not confirm', async () => {
    for (const news of ['rcs', 'sms_fallback'] as const) {
      const { asked, after, forge, isDecided } = sending();
      await after(20);
      forge(news);
      await after(20);
      expect([asked.slice(2), await isDecided()]).toEqual([['read'], false]);
    }
  });

  it('falls back at once when the card was refused', async () => {
    const { decided, after, tell, ends } = sending({ state: 'refused' });
    await after(20);
    tell('sms_fallback');
    expect(await decided).toEqual(FALLBACK);
    expect(ends).toEqual(['not_sent']);
  });

  it('shows the number where the platform did not answer: the card may come yet', async () => {
    const { decided, after, tell } = sending({ state: 'unknown' });
    await after(20);
    tell('sms_fallback');
    expect(await decided).toEqual({ channel: 'sms_fallback', matchCode: '42' });
  });

  it('shows no number without number matching', async () => {
    const { decided, after, tell } = sending({ brand: { rcsNumberMatching: false } });
    await after(20);
    tell('rcs');
    expect(await decided).toEqual({ channel: 'rcs', matchCode: null });
  });

  it('waits T for its delivery from the moment at which it was sent, and then settles', async () => {
    const { decided, asked, after, tell, isDecided, ends } = sending({ state: 'sent' });
    await after(300);
    tell('sent');
    await after(T_MS - 1);
    expect(await isDecided()).toBe(false);
    await after(1);
    expect(await decided).toEqual({ channel: 'sms_fallback', matchCode: '42' });
    expect(asked.slice(2)).toEqual([`ring ${ID}`, 'settle', `ring ${ID}`, 'read']);
    expect(ends).toEqual(['not_delivered']);
  });

  it('rings when it gives a card up, so that it is revoked at once, and not for one that came', async () => {
    for (const [settle, rung] of [
      ['sms_fallback', [`ring ${ID}`]],
      ['rcs', []],
    ] as const) {
      const { decided, asked, tell } = sending({ settle, deliveryWaitMs: 0, brand: { rcsNumberMatching: false } });
      tell('sent');
      await decided;
      expect(asked.slice(2)).toEqual(['settle', ...rung]);
    }
  });

  it('shows no number where its card was refused, and word of that was lost', async () => {
    const { decided, after } = sending({ withdraw: 'claimed', state: 'refused' });
    await after(2_150);
    expect(await decided).toEqual(FALLBACK);
  });

  it('is rcs when the row says so at the last moment', async () => {
    const { decided, after, tell } = sending({ settle: 'rcs' });
    await after(10);
    tell('sent');
    await after(T_MS);
    expect(await decided).toEqual({ channel: 'rcs', matchCode: '42' });
  });

  it('waits for a quarter of its session at most', async () => {
    const { decided, after, tell, isDecided } = sending({ ttlSeconds: 30, deliveryWaitMs: 8_000 });
    tell('sent');
    await after(7_499);
    expect(await isDecided()).toBe(false);
    await after(1);
    expect(await decided).toMatchObject({ channel: 'sms_fallback' });
  });

  it('settles at once after the send when it shall not wait', async () => {
    const { decided, asked, after, tell } = sending({ deliveryWaitMs: 0 });
    await after(10);
    tell('sent');
    await decided;
    expect(asked.slice(2)).toEqual(['settle', `ring ${ID}`, 'read']);
  });
});

describe('a create that hears nothing', () => {
  it('goes on waiting for a card that a gateway took, until a send is over', async () => {
    const { decided, asked, after, isDecided } = sending({ withdraw: 'claimed' });
    await after(350 + 1_500 + 249);
    expect([asked.slice(2), await isDecided()]).toEqual([[`ring ${ID}`, 'withdraw'], false]);
    await after(1);
    expect(await decided).toEqual({ channel: 'sms_fallback', matchCode: '42' });
    expect(asked.slice(3)).toEqual(['withdraw', 'settle', `ring ${ID}`, 'read']);
  });

  it('hears late as well as in time', async () => {
    const { decided, after, tell } = sending({ withdraw: 'claimed' });
    await after(1_000);
    tell('sent');
    await after(2_000);
    tell('rcs');
    expect(await decided).toMatchObject({ channel: 'rcs' });
  });

  it.each<FinalChannel>(['rcs', 'sms_fallback'])('believes the row: %s', async (withdraw) => {
    const { decided, after } = sending({ withdraw });
    await after(350);
    expect(await decided).toMatchObject({ channel: withdraw });
  });
});

describe('the card of an earlier attempt', () => {
  it.each<[FinalChannel | null, string[]]>([
    ['rcs', []],
    ['sms_fallback', []],
    [null, ['settle', `ring ${ID}`]],
  ])('that was settled as %s is not sent again', async (finalChannel, more) => {
    const { decided, asked } = sending({ offer: { kind: 'earlier', finalChannel }, state: 'sent' });
    expect(await decided).toEqual({ channel: finalChannel ?? 'sms_fallback', matchCode: '42' });
    expect(asked.slice(1).filter((each) => each !== 'read')).toEqual(['offer', ...more]);
  });
});

describe('a session that an earlier attempt made RCS stays so', () => {
  it.each<[string, Rows]>([
    ['when its brand has no agent any more', { brand: { rcsAgentId: null } }],
    ['when its time is nearly over', { ttlSeconds: 9 }],
    ['when its card cannot be asked for', { offer: new DatabaseUnavailable('away') }],
  ])('%s', async (_, rows) => {
    const { decided } = sending({ ...rows, channel: 'rcs' });
    expect(await decided).toMatchObject({ channel: 'rcs' });
  });
});

describe('when the row cannot be asked', () => {
  it('for want of a database, there is no answer that could be untrue', async () => {
    const away = new DatabaseUnavailable('away');
    const { decided, after } = sending({ withdraw: away });
    const refused = expect(decided).rejects.toBe(away);
    await after(350);
    await refused;
  });

  it('for any other reason, the create goes on without a card', async () => {
    const broken = new DataError('broken', '42P01', null);
    const { decided, after, tell, errors } = sending({ settle: broken });
    tell('sent');
    await after(T_MS);
    expect(await decided).toEqual(FALLBACK);
    expect(errors).toEqual([broken]);
  });
});

it('a process that stops lets no create wait any longer', async () => {
  const { desk, decided, asked, after } = sending({ withdraw: 'claimed' });
  await after(10);
  expect(desk.waiting).toBe(1);
  desk.stop();
  expect(await decided).toMatchObject({ channel: 'sms_fallback' });
  expect([asked.slice(3, 5), desk.waiting]).toEqual([['withdraw', 'settle'], 0]);
});
