import { type CardRecord, findCards } from '@countersign/rcs/offers';
import type { Uuid } from '@countersign/ids';
import type { Executor, Page, PageRequest, Records } from '@countersign/postgres';
import { SESSION_RECORDS, type SessionRecord } from '@countersign/session';

/** A session with its card, or null. */
export type SessionWithCard = SessionRecord & { readonly card: CardRecord | null };

/** Sessions with their cards; the cards of a page are read in one statement. */
export class SessionRecords implements Records<SessionWithCard> {
  constructor(private readonly sessions: Pick<Records<SessionRecord>, 'list'> = SESSION_RECORDS) {}

  /** Filters by column values; undefined matches any. */
  where(values: Readonly<Record<string, string | undefined>>): Pick<Records<SessionWithCard>, 'list'> {
    return new SessionRecords(SESSION_RECORDS.where(values));
  }

  async list(db: Executor, request: PageRequest): Promise<Page<SessionWithCard>> {
    const { rows, hasMore } = await this.sessions.list(db, request);
    return { rows: await withCards(db, rows), hasMore };
  }

  async find(db: Executor, id: Uuid): Promise<SessionWithCard | null> {
    const [row = null] = await withCards(db, listOf(await SESSION_RECORDS.find(db, id)));
    return row;
  }

  async lock(tx: Executor, id: Uuid): Promise<SessionWithCard | null> {
    const [row = null] = await withCards(tx, listOf(await SESSION_RECORDS.lock(tx, id)));
    return row;
  }
}

const listOf = <Row>(row: Row | null): Row[] => (row === null ? [] : [row]);

async function withCards(db: Executor, rows: readonly SessionRecord[]): Promise<SessionWithCard[]> {
  const cards = await findCards(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({ ...row, card: cards.get(row.id) ?? null }));
}
