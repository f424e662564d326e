import { idBounds, type Uuid } from '@countersign/ids';
import { Batcher, type Database, type Executor } from '@countersign/postgres';
import { noStatement, statement, type Statements } from '@countersign/postgres/statements';
import { SEND_LIFE_MS, type CardRefusal, type CardState, type NewCard, type FinalChannel } from '../rules/card.js';
import { batchLimits } from './batch-limits.js';
import {
  DELETE_STALE_PHONES,
  DELETE_STALE_RECIPIENTS,
  INSERT_CARDS,
  LOCK_PHONES,
  READ_SETTLED,
  READ_STANDING,
  REQUEST_REVOKES_OF_ENDED_SESSIONS,
  SETTLE_CARDS,
  type PhoneRow,
  type SettledRow,
  type StandingRow,
} from './card-offer.sql.js';
import { LOCK_CARDS, REFUND_CARDS } from './card-tables.sql.js';
import { plainAgentId } from '../rules/agent-id.js';
import { judgeOffer, recentCards } from '../rules/judge-offer.js';
import { messageIdOf } from '../rules/message-id.js';

/** Upper bound of a send, of a gateway that died during it too. */
const SEND_MAY_TAKE_SECONDS = (SEND_LIFE_MS + 500) / 1_000;
/** A create waits for the offer; a card that takes longer to offer is not worth the wait. */
const DEFAULT_OFFER_DEADLINE_MS = 500;
/** Cards per transaction. */
const MAX_BATCH = 64;

export type OfferResult =
  | { readonly kind: 'offered' }
  /** An earlier attempt of the same request made the card. The channel is null while the card is not settled. */
  | { readonly kind: 'earlier'; readonly finalChannel: FinalChannel | null }
  | { readonly kind: 'refused'; readonly because: CardRefusal };

export type Withdrawal = 'withdrawn' | 'claimed' | FinalChannel;

export interface CardOfferStoreOptions {
  readonly database: Pick<Database, 'query' | 'transaction' | 'readThenWrite'>;
  /** Time without further cards for a phone that an agent could not reach. Default 0: every card is tried. */
  readonly unreachableSeconds?: number;
  /** `offerCard` rejects after this time; the offer may still be committed and must then be settled. Default 500. */
  readonly offerDeadlineMs?: number;
}

interface SettleCommand {
  readonly id: Uuid;
  readonly unclaimedOnly: boolean;
}

interface Settlement {
  readonly finalChannel: FinalChannel | null;
  readonly withdrawn: boolean;
}

/**
 * The control plane's statements on cards: offers, settlements, revocations. The row of a card decides the channel of its
 * session, once: the transaction that settles it first holds its lock. Every transaction locks in one order: cards by id,
 * `card_recipients`, sessions by id, phones; an offer alone locks its phone first, before its card exists.
 */
export class CardOfferStore {
  private readonly offers: Batcher<NewCard, OfferResult>;
  private readonly settlements: Batcher<SettleCommand, Settlement>;
  private readonly unreachableMs: number;

  constructor(private readonly options: CardOfferStoreOptions) {
    const { database, unreachableSeconds = 0, offerDeadlineMs = DEFAULT_OFFER_DEADLINE_MS } = options;
    const limits = batchLimits(MAX_BATCH);
    this.unreachableMs = unreachableSeconds * 1_000;
    this.offers = new Batcher({
      name: 'card.offer',
      limits: { ...limits, deadlineMs: offerDeadlineMs },
      keysOf: ({ phone }) => [phone],
      run: (cards) => database.readThenWrite((tx) => this.judgeOffers(tx, cards), insertCards),
    });
    this.settlements = new Batcher({
      name: 'card.settle',
      limits,
      keysOf: ({ id }) => [id],
      run: (commands) => database.transaction((tx) => settleCards(tx, commands)),
    });
  }

  /**
   * Offers a card to the gateways, unless a rule refuses it (contract, RCS in short). When the session already has a card,
   * nothing is counted and nothing is sent.
   */
  offerCard(card: NewCard): Promise<OfferResult> {
    return this.offers.add({ ...card, agentId: plainAgentId(card.agentId) });
  }

  /** Withdraws a card that no gateway has claimed, so that its session falls back to SMS; else returns its state. */
  async withdrawUnclaimed(id: Uuid): Promise<Withdrawal> {
    const { finalChannel, withdrawn } = await this.settlements.add({ id, unclaimedOnly: true });
    if (withdrawn) return 'withdrawn';
    return finalChannel ?? 'claimed';
  }

  /** The final channel: `sms_fallback` unless it was settled before. A card that may still arrive is to be revoked. */
  async settleChannel(id: Uuid): Promise<FinalChannel> {
    const { finalChannel } = await this.settlements.add({ id, unclaimedOnly: false });
    return finalChannel ?? 'sms_fallback';
  }

  /** Makes a revoke due for each card of these sessions that may still arrive. Returns their ids, for the job queue. */
  async requestRevokesOfEndedSessions(tx: Executor, sessionIds: readonly Uuid[]): Promise<Uuid[]> {
    if (sessionIds.length === 0) return [];
    const { low, high } = idBounds(sessionIds);
    const values = [sessionIds, low, high, SEND_MAY_TAKE_SECONDS];
    return (await tx.query<{ id: Uuid }>(REQUEST_REVOKES_OF_ENDED_SESSIONS, values)).map(({ id }) => id);
  }

  /** Deletes rows of phones without cards for a day, or of a time to come. Returns at most `limit`; when it returns `limit`, more may be left. */
  async deleteStale(limit: number): Promise<number> {
    const { database } = this.options;
    const phones = await database.query(DELETE_STALE_PHONES, [limit]);
    const recipients = await database.query(DELETE_STALE_RECIPIENTS, [limit]);
    return Math.min(limit, Math.max(phones.length, recipients.length));
  }

  /** Resolves once every queued command has been answered. */
  async drain(): Promise<void> {
    await Promise.all([this.offers.drain(), this.settlements.drain()]);
  }

  /** The cards have different phones; each phone is locked from here on. */
  private async judgeOffers(tx: Executor, cards: readonly NewCard[]): Promise<Judged[]> {
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

  private judge(card: NewCard, phone: PhoneRow | undefined, standing: StandingRow | undefined): Judged {
    if (phone === undefined || standing === undefined)
      throw new Error('card offer: the phone of a card was not locked');
    if (standing.earlier) return { row: null, result: { kind: 'earlier', finalChannel: standing.finalChannel } };
    const nowMs = phone.now.getTime();
    const facts = {
      ...standing,
      unreachableAtMs: standing.unreachableAt?.getTime() ?? null,
      recent: phone.recent,
      denialsMs: phone.denials.map((at) => at.getTime()),
    };
    const because = judgeOffer(facts, this.unreachableMs, nowMs);
    if (because !== null) return { row: null, result: { kind: 'refused', because } };
    const recent = [...recentCards(phone.recent, nowMs), card.id];
    return { row: insertRow(card, recent), result: { kind: 'offered' } };
  }
}

interface Judged {
  readonly row: Readonly<Record<string, unknown>> | null;
  readonly result: OfferResult;
}

function insertCards(judged: readonly Judged[]): Statements<OfferResult[]> {
  const rows = judged.flatMap(({ row }) => (row === null ? [] : [row]));
  const results = judged.map(({ result }) => result);
  return rows.length === 0 ? noStatement(results) : statement(INSERT_CARDS, [JSON.stringify(rows)], () => results);
}

/** A card as one element of the insert statement's JSON. */
function insertRow(card: NewCard, recent: readonly Uuid[]): Readonly<Record<string, unknown>> {
  return {
    id: card.id,
    account_id: card.accountId,
    brand_id: card.brandId,
    origin_process: card.originProcess,
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

/** The statements are sent together and run in this order. A missing card was never offered: its session is `sms_fallback`. */
async function settleCards(tx: Executor, commands: readonly SettleCommand[]): Promise<Settlement[]> {
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
