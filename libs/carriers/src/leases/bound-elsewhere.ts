import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { LIST_BOUND_ELSEWHERE } from './bound-elsewhere.sql.js';

/** The binds over which a gateway other than `self` can send, by their owners' last status. */
export async function bindsBoundElsewhere(db: Executor, self: Uuid): Promise<ReadonlySet<Uuid>> {
  const rows = await db.query<{ bindId: Uuid }>(LIST_BOUND_ELSEWHERE, [self]);
  return new Set(rows.map(({ bindId }) => bindId));
}
