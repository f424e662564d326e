import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { LIST_BOUND_ELSEWHERE } from './bound-elsewhere.sql.js';

/** The binds and systems over which a gateway other than `self` can send, by its last status. */
export async function linksBoundElsewhere(db: Executor, self: Uuid): Promise<ReadonlySet<Uuid>> {
  const rows = await db.query<{ linkId: Uuid }>(LIST_BOUND_ELSEWHERE, [self]);
  return new Set(rows.map(({ linkId }) => linkId));
}
