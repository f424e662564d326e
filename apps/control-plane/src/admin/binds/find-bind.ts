import { type BindRecord, BINDS } from '@countersign/carriers/records';
import { parseId } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { refuse, succeed, type Outcome } from '../../http/errors.js';

/** The bind with this id in the API, for calls about a part of a bind. */
export async function findBind(db: Executor, id: string): Promise<Outcome<BindRecord>> {
  const bindId = parseId('bind', id);
  const bind = bindId === null ? null : await BINDS.find(db, bindId);
  return bind === null ? refuse('NOT_FOUND', { message: 'There is no bind with this id.' }) : succeed(bind);
}
