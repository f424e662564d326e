import { idBounds, type Uuid } from '@countersign/ids';
import { Batcher, type Database, type Executor } from '@countersign/postgres';
import { batchLimits } from './batch-limits.js';
import {
  CLAIM_OFFERS,
  NOTE_UNREACHABLE,
  READ_SENT_CARDS,
  RECORD_SEND_OUTCOMES,
  type OutcomeRow,
} from './card-send.sql.js';
import { LOCK_CARDS, REFUND_CARDS } from './card-tables.sql.js';
import { OFFER_LIFE_MS, type Card, type CardOutcome, type CardState, type SendOutcome } from '../rules/card.js';

/** The outcome of one send. */
export interface CardSendResult {
  readonly id: Uuid;
  readonly outcome: SendOutcome;
}

/** An outcome and the process whose create waits for it (`TOPICS.cardOutcomes`). */
export interface AddressedCardOutcome extends CardOutcome {
  readonly originProcess: Uuid;
}

/** The gateways' statements on cards: claims of offers and outcomes of sends. */
export class CardSendStore {
  private readonly outcomes: Batcher<CardSendResult, AddressedCardOutcome | null>;

  constructor(
    private readonly database: Pick<Database, 'query' | 'transaction'>,
    { batchMaxCommands }: { readonly batchMaxCommands: number },
  ) {
    this.outcomes = new Batcher({
      limits: batchLimits(batchMaxCommands),
      name: 'card.outcome',
      keysOf: ({ id }) => [id],
      run: (sent) => database.transaction((tx) => recordBatch(tx, sent)),
    });
  }

  /** Claims recent offers, to be sent. A repeated or late job gets none. */
  async claimOffers(ids: readonly Uuid[]): Promise<Card[]> {
    if (ids.length === 0) return [];
    const { low, high } = idBounds(ids);
    return this.database.query<Card>(CLAIM_OFFERS, [ids, low, high, OFFER_LIFE_MS]);
  }

  /** Records outcomes of sends. Returns them for the processes whose creates wait. */
  async recordSendOutcomes(sent: readonly CardSendResult[]): Promise<AddressedCardOutcome[]> {
    const recorded = await Promise.all(sent.map((result) => this.outcomes.add(result)));
    return recorded.filter((outcome) => outcome !== null);
  }

  /** Resolves once every queued outcome is recorded. */
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

/** The statements are sent together and run in this order. */
async function recordBatch(tx: Executor, sent: readonly CardSendResult[]): Promise<(AddressedCardOutcome | null)[]> {
  const ids = sent.map(({ id }) => id);
  const { low, high } = idBounds(ids);
  const states = sent.map(({ outcome }) => STATES[outcome.kind]);
  const refusals = sent.map(({ outcome }) => refusalOf(outcome));
  const [, , rows] = await Promise.all([
    tx.query(LOCK_CARDS, [ids, low, high]),
    tx.query(RECORD_SEND_OUTCOMES, [ids, states, refusals, low, high]),
    tx.query<OutcomeRow>(READ_SENT_CARDS, [ids, low, high]),
  ]);
  await recordRefusals(tx, sent, rows);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return sent.map(({ id }) => {
    const row = byId.get(id);
    return row === undefined ? null : { id, originProcess: row.originProcess, news: row.finalChannel ?? 'sent' };
  });
}

/** Locks `card_recipients` before phones, as everywhere. A refused card does not count against its phone. */
async function recordRefusals(
  tx: Executor,
  sent: readonly CardSendResult[],
  rows: readonly OutcomeRow[],
): Promise<void> {
  const refused = rows.filter(({ state }) => state === 'refused');
  if (refused.length === 0) return;
  const unreachable = new Set(sent.flatMap(({ id, outcome }) => (outcome.kind === 'unreachable' ? [id] : [])));
  const known = refused.filter(({ id }) => unreachable.has(id));
  if (known.length > 0) {
    await tx.query(NOTE_UNREACHABLE, [known.map(({ agentId }) => agentId), known.map(({ phone }) => phone)]);
  }
  await tx.query(REFUND_CARDS, [refused.map(({ phone }) => phone), refused.map(({ id }) => id)]);
}
