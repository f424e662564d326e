import { idBounds, type Uuid } from '@countersign/ids';
import { Batcher, type Database, type Executor } from '@countersign/postgres';
import type { BatchBounds } from './card-offers.js';
import { CLAIM_OFFERS, NOTE_UNREACHABLE, READ_OUTCOMES, RECORD_OUTCOMES, type OutcomeRow } from './card-sends.sql.js';
import { LOCK_CARDS, REFUND_CARDS } from './card-tables.sql.js';
import { OFFER_LIFE_MS, type Card, type CardOutcome, type CardState, type SendOutcome } from '../rules/card.js';

/** What became of one send. */
export interface SentCard {
  readonly id: Uuid;
  readonly outcome: SendOutcome;
}

/** News and the process whose request waits for them (`cardTopic`). */
export interface AddressedCardOutcome extends CardOutcome {
  readonly waiter: Uuid;
}

export interface CardSendsOptions {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly bounds: BatchBounds;
}

/** How cards are taken by a gateway, and what it reports of them. */
export class CardSends {
  private readonly outcomes: Batcher<SentCard, AddressedCardOutcome | null>;

  constructor(private readonly options: CardSendsOptions) {
    this.outcomes = new Batcher({
      ...options.bounds,
      name: 'card.outcome',
      keysOf: ({ id }) => [id],
      run: (sent) => options.database.transaction((tx) => recordAll(tx, sent)),
    });
  }

  async claimOffers(ids: readonly Uuid[]): Promise<Card[]> {
    if (ids.length === 0) return [];
    const { low, high } = idBounds(ids);
    return this.options.database.query<Card>(CLAIM_OFFERS, [ids, low, high, OFFER_LIFE_MS]);
  }

  async recordOutcomes(sent: readonly SentCard[]): Promise<AddressedCardOutcome[]> {
    const news = await Promise.all(sent.map((each) => this.outcomes.add(each)));
    return news.filter((each) => each !== null);
  }

  drain(): Promise<void> {
    return this.outcomes.drain();
  }
}

const STATES: Readonly<Record<SendOutcome['kind'], CardState>> = {
  sent: 'sent',
  unreachable: 'refused',
  refused: 'refused',
  unknown: 'unknown',
};

function refusalOf(outcome: SendOutcome): string | null {
  if (outcome.kind === 'sent') return null;
  return outcome.kind === 'unreachable' ? 'unreachable' : outcome.because;
}

/** Asked for at once and done in this order. */
async function recordAll(tx: Executor, sent: readonly SentCard[]): Promise<(AddressedCardOutcome | null)[]> {
  const ids = sent.map(({ id }) => id);
  const { low, high } = idBounds(ids);
  const states = sent.map(({ outcome }) => STATES[outcome.kind]);
  const refusals = sent.map(({ outcome }) => refusalOf(outcome));
  const [, , rows] = await Promise.all([
    tx.query(LOCK_CARDS, [ids, low, high]),
    tx.query(RECORD_OUTCOMES, [ids, states, refusals, low, high]),
    tx.query<OutcomeRow>(READ_OUTCOMES, [ids, low, high]),
  ]);
  await noteRefused(tx, sent, rows);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return sent.map(({ id }) => {
    const row = byId.get(id);
    return row === undefined ? null : { id, waiter: row.waiter, news: row.finalChannel ?? 'sent' };
  });
}

/** What agents know of phones first, phones last, as everywhere. A card that its phone cannot get does not count against it. */
async function noteRefused(tx: Executor, sent: readonly SentCard[], rows: readonly OutcomeRow[]): Promise<void> {
  const refused = rows.filter(({ state }) => state === 'refused');
  if (refused.length === 0) return;
  const unreachable = new Set(sent.flatMap(({ id, outcome }) => (outcome.kind === 'unreachable' ? [id] : [])));
  const known = refused.filter(({ id }) => unreachable.has(id));
  if (known.length > 0) {
    await tx.query(NOTE_UNREACHABLE, [known.map(({ agentId }) => agentId), known.map(({ phone }) => phone)]);
  }
  await tx.query(REFUND_CARDS, [refused.map(({ phone }) => phone), refused.map(({ id }) => id)]);
}
