import type { AdminRole } from '@countersign/accounts/admin-keys';
import { parseId, type Uuid } from '@countersign/ids';
import { SIGN_IN_ACCOUNT_ID } from '@countersign/keys';
import type { Executor, Records } from '@countersign/postgres';
import type { Outcome, Refusal } from '../../http/errors.js';

/** A kind of resource that engineers can list. */
export interface Listed<Row, View extends object> {
  /** The prefix of its ids: `brd`. */
  readonly idPrefix: string;
  /** Fixed names, for resources that have names instead of ids. */
  readonly names?: readonly string[];
  readonly table: Pick<Records<Row>, 'list'>;
  /** The resource as the API and the audit log show it, without secrets. */
  readonly view: (row: Row) => View;
}

/** A kind of resource in the admin API, without its writes. */
export interface AdminResource<Row extends { readonly id: Uuid }, View extends object> extends Listed<Row, View> {
  /** The name in its path and in the audit log: `brands`. */
  readonly name: string;
  /** The singular in sentences: `brand`. */
  readonly noun: string;
  readonly table: Records<Row>;
  /** The audited state, where the view also contains state that engineers do not set. */
  readonly audited?: (row: Row) => object;
  /** The reason why this engineer may not delete a locked row, or null. */
  readonly mayRemove?: (tx: Executor, row: Row, by: Engineer) => Promise<Refusal | null>;
  /** The answer to an act has people's data: it is in the audit log also when nothing has changed. */
  readonly showsPeople?: boolean;
  /** Called after a change of it was committed. */
  readonly committed?: () => void;
  /** The refusals of violated constraints of its table, by constraint name; any other violation is a fault of ours. */
  readonly refusals: Readonly<Record<string, Refusal>>;
}

/** The required fields of a resource, which is often an instance of a class, for a variant of it. */
export const plainResource = <Row extends { readonly id: Uuid }, View extends object>({
  name,
  noun,
  idPrefix,
  table,
  view,
  refusals,
}: AdminResource<Row, View>): AdminResource<Row, View> => ({ name, noun, idPrefix, table, view, refusals });

/** A kind of resource whose rows are found by id. */
export type FoundById<Row extends { readonly id: Uuid }, View extends object> = Pick<
  AdminResource<Row, View>,
  'name' | 'noun' | 'idPrefix' | 'names' | 'view'
> & { readonly table: Pick<Records<Row>, 'find'> };

/** A written row, and values shown only in this response: a key, a secret. */
export interface Written<Row, View> {
  readonly row: Row;
  readonly once?: Partial<View>;
  /** Write-only fields that were set: the audit log contains their names. */
  readonly hidden?: readonly string[];
}

export type Reply<Row, View> = Promise<Outcome<Written<Row, View>>>;

/** A resource with its writes, each in the caller's transaction. A row is locked and complete. */
export interface CrudResource<
  Row extends { readonly id: Uuid },
  View extends object,
  Draft,
  Change,
> extends AdminResource<Row, View> {
  /** The resource for reads, with the view of the engineer's role; without it every role sees the same. */
  seenBy?(by: Engineer): AdminResource<Row, View>;
  create(tx: Executor, draft: Draft, by: Engineer): Reply<Row, View>;
  update(tx: Executor, row: Row, change: Change, by: Engineer): Reply<Row, View>;
  delete?(tx: Executor, row: Row): Promise<unknown>;
}

/** The caller who makes a change, for the audit log. */
export interface Actor {
  /** The name of an admin key, or the id of an account's key. */
  readonly actor: string;
  readonly requestId: string;
}

/** The holder of the admin key of a request, for the audit log and the policy of roles. */
export interface Engineer extends Actor {
  readonly role: AdminRole;
  readonly holder: EngineerHolder;
}

/** The key or session that an engineer's rights come from. */
export interface EngineerHolder {
  /** Null for the key of the environment, and for members of the installation. */
  readonly keyId: Uuid | null;
  /** In hex, one for each version of the master key; not used for a session of the console, empty for calls that change nothing. */
  readonly keyDigests: readonly string[];
  /** Of the console; null for a call with a key. */
  readonly sessionId: Uuid | null;
}

/** For a create with an unknown account, and for the foreign key behind it. */
export const NO_SUCH_ACCOUNT = {
  code: 'VALIDATION_ERROR',
  field: 'accountId',
  message: 'There is no account with this id.',
} as const satisfies Refusal;

/** The id of an account in a body. Null for text that is none, and for the account of sign-ins to the console. */
export function accountIdOf(text: string): Uuid | null {
  const id = parseId('acct', text);
  return id === SIGN_IN_ACCOUNT_ID ? null : id;
}
