import { idBounds, type Uuid } from '@countersign/ids';
import { Batcher, type BatcherOptions, type Database, type Executor } from '@countersign/postgres';
import { SEND_LIFE_MS, type CardRefusal, type CardState, type NewCard, type FinalChannel } from '../rules/card.js';
import {
  FORGET_PHONES,
  FORGET_UNREACHABLE,
  INSERT_CARDS,
  LOCK_PHONES,
  READ_SETTLED,
  READ_STANDING,
  REVOKE_ENDED,
  SETTLE_CARDS,
  type PhoneRow,
  type SettledRow,
  type StandingRow,
} from './card-offers.sql.js';
import { LOCK_CARDS, REFUND_CARDS } from './card-tables.sql.js';
import { plainAgentId } from '../rules/agent-id.js';
import { judgeOffer, recentCards } from '../rules/judge-offer.js';
import { messageIdOf } from '../rules/message-id.js';

/** So long a gateway that died may have been at it. */
const SEND_MAY_TAKE_SECONDS = (SEND_LIFE_MS + 500) / 1_000;

export type OfferResult =
  | { readonly kind: 'offered' }
  /** The session has a card already: of an earlier attempt of the same request. Null while it is not settled. */
  | { readonly kind: 'earlier'; readonly finalChannel: FinalChannel | null }
  | { readonly kind: 'refused'; readonly because: CardRefusal };

export type Withdrawal = 'withdrawn' | 'claimed' | FinalChannel;

export type BatchBounds = Pick<BatcherOptions<unknown, unknown>, 'maxBatch' | 'maxInFlight' | 'maxQueued'>;

export interface CardOffersOptions {
  readonly database: Pick<Database, 'query' | 'transaction' | 'readThenWrite'>;
  readonly unreachableSeconds: number;
  readonly offerDeadlineMs: number;
  readonly bounds: BatchBounds;
}

interface SettleCommand {
  readonly id: Uuid;
  readonly unclaimedOnly: boolean;
}

interface Standing {
  readonly finalChannel: FinalChannel | null;
  readonly withdrawn: boolean;
}

/** Offers cards, and says of those that did not arrive in time that their sessions fall back to SMS. */
export class CardOffers {
  private readonly offers: Batcher<NewCard, OfferResult>;
  private readonly settlements: Batcher<SettleCommand, Standing>;

  constructor(private readonly options: CardOffersOptions) {
    const { bounds } = options;
    this.offers = new Batcher({
      ...bounds,
      name: 'card.offer',
      deadlineMs: options.offerDeadlineMs,
      keysOf: ({ phone }) => [phone],
      run: (cards) => options.database.readThenWrite((tx) => this.judgeAll(tx, cards), writeAll),
    });
    this.settlements = new Batcher({
      ...bounds,
      name: 'card.settle',
      keysOf: ({ id }) => [id],
      run: (commands) => options.database.transaction((tx) => settleAll(tx, commands)),
    });
  }

  offer(card: NewCard): Promise<OfferResult> {
    return this.offers.add({ ...card, agentId: plainAgentId(card.agentId) });
  }

  async withdrawUnclaimed(id: Uuid): Promise<Withdrawal> {
    const { finalChannel, withdrawn } = await this.settlements.add({ id, unclaimedOnly: true });
    if (withdrawn) return 'withdrawn';
    return finalChannel ?? 'claimed';
  }

  async settle(id: Uuid): Promise<FinalChannel> {
    const { finalChannel } = await this.settlements.add({ id, unclaimedOnly: false });
    return finalChannel ?? 'sms_fallback';
  }

  async revokeEnded(tx: Executor, ids: readonly Uuid[]): Promise<Uuid[]> {
    if (ids.length === 0) return [];
    const { low, high } = idBounds(ids);
    return (await tx.query<{ id: Uuid }>(REVOKE_ENDED, [ids, low, high, SEND_MAY_TAKE_SECONDS])).map(({ id }) => id);
  }

  async forgetStale(limit: number): Promise<number> {
    const { database } = this.options;
    const phones = await database.query(FORGET_PHONES, [limit]);
    const recipients = await database.query(FORGET_UNREACHABLE, [limit]);
    return Math.max(phones.length, recipients.length);
  }

  async drain(): Promise<void> {
    await Promise.all([this.offers.drain(), this.settlements.drain()]);
  }

  /** Cards of different phones, each under its phone's lock from here on. */
  private async judgeAll(tx: Executor, cards: readonly NewCard[]): Promise<Judged[]> {
    const ids = cards.map(({ id }) => id);
    const { low, high } = idBounds(ids);
    const phones = cards.map(({ phone }) => phone);
    const agents = cards.map(({ agentId }) => agentId);
    const [locked, standings] = await Promise.all([
      tx.query<PhoneRow>(LOCK_PHONES, [phones]),
      tx.query<StandingRow>(READ_STANDING, [ids, agents, phones, low, high]),
    ]);
    const byPhone = new Map(locked.map((row) => [row.phone, row]));
    const byId = new Map(standings.map((row) => [row.id, row]));
    return cards.map((card) => this.judge(card, byPhone.get(card.phone), byId.get(card.id)));
  }

  private judge(card: NewCard, phone: PhoneRow | undefined, known: StandingRow | undefined): Judged {
    if (phone === undefined || known === undefined) throw new Error('the phone of a card was not locked');
    if (known.earlier) return { row: null, result: { kind: 'earlier', finalChannel: known.finalChannel } };
    const nowMs = phone.now.getTime();
    const standing = {
      ...known,
      unreachableAtMs: known.unreachableAt?.getTime() ?? null,
      recent: phone.recent,
      denialsMs: phone.denials.map((at) => at.getTime()),
    };
    const because = judgeOffer(standing, this.options.unreachableSeconds * 1000, nowMs);
    if (because !== null) return { row: null, result: { kind: 'refused', because } };
    const recent = [...recentCards(phone.recent, nowMs), card.id];
    return { row: insertRow(card, recent), result: { kind: 'offered' } };
  }
}

interface Judged {
  readonly row: Readonly<Record<string, unknown>> | null;
  readonly result: OfferResult;
}

async function writeAll(tx: Executor, judged: readonly Judged[]): Promise<OfferResult[]> {
  const rows = judged.flatMap(({ row }) => (row === null ? [] : [row]));
  if (rows.length > 0) await tx.query(INSERT_CARDS, [JSON.stringify(rows)]);
  return judged.map(({ result }) => result);
}

/** A card as one element of the insert statement's JSON. */
function insertRow(card: NewCard, recent: readonly Uuid[]): Readonly<Record<string, unknown>> {
  return {
    id: card.id,
    account_id: card.accountId,
    brand_id: card.brandId,
    waiter: card.waiter,
    agent_id: card.agentId,
    phone: card.phone,
    brand_name: card.brandName,
    logo_url: card.logoUrl,
    number_matching: card.numberMatching,
    key_version: card.keyVersion,
    message_id: messageIdOf(card.id, 'card'),
    expires_at: card.expiresAt,
    recent,
  };
}

/** Asked for at once and done in this order. A card that is not there was never offered: its session has no other way. */
async function settleAll(tx: Executor, commands: readonly SettleCommand[]): Promise<Standing[]> {
  const ids = commands.map(({ id }) => id);
  const { low, high } = idBounds(ids);
  const unclaimed = commands.map(({ unclaimedOnly }) => unclaimedOnly);
  const [, settled, rows] = await Promise.all([
    tx.query(LOCK_CARDS, [ids, low, high]),
    tx.query<SettledRow>(SETTLE_CARDS, [ids, unclaimed, low, high, SEND_MAY_TAKE_SECONDS]),
    tx.query<{ id: Uuid; finalChannel: FinalChannel | null; state: CardState }>(READ_SETTLED, [ids, low, high]),
  ]);
  const withdrawn = settled.filter((row) => row.withdrawn);
  if (withdrawn.length > 0) {
    await tx.query(REFUND_CARDS, [withdrawn.map(({ phone }) => phone), withdrawn.map(({ id }) => id)]);
  }
  const byId = new Map(rows.map((row) => [row.id, row]));
  return commands.map(({ id }) => {
    const row = byId.get(id);
    if (row === undefined) return { finalChannel: 'sms_fallback', withdrawn: false };
    return { finalChannel: row.finalChannel, withdrawn: row.state === 'withdrawn' };
  });
}
