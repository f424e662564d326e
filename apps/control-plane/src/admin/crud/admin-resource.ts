import type { AdminRole } from '@countersign/accounts/admin-keys';
import type { Uuid } from '@countersign/ids';
import type { Executor, Records } from '@countersign/postgres';
import type { Refusal } from '../../http/errors.js';

/** A kind of thing that engineers read. */
export interface Listed<Row, View extends object> {
  /** Of its ids: `brd`. */
  readonly idPrefix: string;
  /** For a kind of thing that goes by names of its own, in place of ids with the prefix. */
  readonly names?: readonly string[];
  readonly table: Pick<Records<Row>, 'list'>;
  /** The thing as the API and the audit log show it: no secrets. */
  readonly view: (row: Row) => View;
}

/** All there is to know of a kind of thing that engineers look after, besides how it is written. */
export interface AdminResource<Row extends { readonly id: Uuid }, View extends object> extends Listed<Row, View> {
  /** As its path and the audit log spell it: `brands`. */
  readonly name: string;
  /** One of them, in a sentence: `brand`. */
  readonly noun: string;
  readonly table: Records<Row>;
  /** What the audit log keeps of it, where the view shows more than what engineers decide. */
  readonly audited?: (row: Row) => object;
  /** The reason why a locked row may not be deleted, or null. */
  readonly mayRemove?: (tx: Executor, row: Row) => Promise<Refusal | null>;
  /** Told after a change of it has been committed. */
  readonly committed?: () => void;
  /** What the constraints of its table mean for the caller, by their names; any other one is a fault of ours. */
  readonly refusals: Readonly<Record<string, Refusal>>;
}

/** What was written, and what of it this answer alone shows: a key, a secret. */
export interface Written<Row, View> {
  readonly row: Row;
  readonly once?: Partial<View>;
  /** Fields that are only ever written, and now were: the audit log has their names. */
  readonly hidden?: readonly string[];
}

/** The holder of the admin key of a request, as the audit log and the policy of roles need it. */
export interface Engineer {
  /** The name of the key. */
  readonly actor: string;
  readonly role: AdminRole;
  readonly requestId: string;
}

/** For a create that names an account, and for the foreign key behind it. */
export const NO_SUCH_ACCOUNT = {
  code: 'VALIDATION_ERROR',
  field: 'accountId',
  message: 'There is no account with this id.',
} as const satisfies Refusal;
