import { firstIdAt, idBounds, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { decodeChoice } from '../rules/card-answers.js';
import type { CardState, Choice, FinalChannel } from '../rules/card.js';
import { READ_CARD_EVENTS, READ_CARDS } from './card-record.sql.js';

/** The current row of a card, for the admin API. */
export interface CardRecord {
  readonly id: Uuid;
  readonly agentId: string;
  readonly numberMatching: boolean;
  readonly state: CardState;
  /** Why the card was refused, or why the outcome of its send is unknown. */
  readonly refusal: string | null;
  readonly finalChannel: FinalChannel | null;
  readonly createdAt: Date;
  readonly sentAt: Date | null;
  readonly deliveredAt: Date | null;
  readonly readAt: Date | null;
  readonly tappedAt: Date | null;
  /** The command that is still to be sent to the platform. */
  readonly command: 'revoke' | 'close_approved' | 'close_denied' | null;
}

const MAY_REACH: ReadonlySet<CardState> = new Set<CardState>(['sending', 'sent', 'unknown']);

/** Whether the card may be, or may yet become, visible on its phone. */
export const mayReachPhone = ({ state }: Pick<CardRecord, 'state'>): boolean => MAY_REACH.has(state);

/** The cards of these sessions, by session id; most sessions have none. */
export async function findCards(db: Executor, ids: readonly Uuid[]): Promise<ReadonlyMap<Uuid, CardRecord>> {
  if (ids.length === 0) return new Map();
  const { low, high } = idBounds(ids);
  const rows = await db.query<CardRecord>(READ_CARDS, [ids, low, high]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** An event of the platform about a card, as it was stored by a gateway. */
export interface CardEventRecord {
  /** As `CardEventKind`. */
  readonly kind: string;
  /** Kind of the button of a tap; a chosen number is not shown. */
  readonly choice: Choice['kind'] | null;
  /** As `EventOutcome`, or what became of a tap; null while it is not processed. */
  readonly outcome: string | null;
  /** As the platform reports it. */
  readonly occurredAt: Date;
  readonly receivedAt: Date;
}

/** The first events of a card between two times, oldest first. */
export async function findCardEvents(
  db: Executor,
  {
    id,
    from,
    before,
    limit,
  }: { readonly id: Uuid; readonly from: Date; readonly before: Date; readonly limit: number },
): Promise<CardEventRecord[]> {
  const rows = await db.query<Omit<CardEventRecord, 'choice'> & { readonly choice: string | null }>(READ_CARD_EVENTS, [
    id,
    firstIdAt(from.getTime()),
    firstIdAt(before.getTime()),
    limit,
  ]);
  return rows.map((row) => ({ ...row, choice: row.choice === null ? null : (decodeChoice(row.choice)?.kind ?? null) }));
}
