import {
  FIND_EXCESS_GRANTS,
  FIND_FAULTS,
  FIND_MISSING_GRANTS,
  grantFunction,
  OWNED_FUNCTIONS,
  schemaGrants,
} from './daemon-role.sql.js';

/** Runs one statement on a connection of the owner. */
export type OwnerQuery = <Row>(text: string, values?: unknown[]) => Promise<Row[]>;

/** Tables with restricted privileges for the daemons' role; it may read and write every other table. */
const RESTRICTED: Readonly<Record<string, readonly string[]>> = {
  // Append-only, so that entries cannot be changed afterwards.
  audit_entries: ['SELECT', 'INSERT'],
  migrations: ['SELECT'],
  key_checks: ['SELECT', 'INSERT', 'UPDATE'],
  // Of BullMQ's schema.
  migration: ['SELECT'],
  migration_lock: [],
};
const USUAL = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

const wishes = (schema: string, role: string): unknown[] => [
  schema,
  role,
  Object.keys(RESTRICTED),
  Object.values(RESTRICTED).map((privileges) => privileges.join(',')),
  USUAL.join(','),
];

/**
 * Grants the daemons' role the privileges that it needs in one schema of the owner: rows of tables, numbers of
 * sequences, and no right to create anything. Revokes all other privileges on tables that the owner granted to the
 * role or to PUBLIC. Future partitions inherit them as default privileges. Idempotent.
 *
 * @param query always on the same connection, in a transaction: no privilege is missing in between
 * @param schema the plain name, not quoted
 */
export async function grantDaemonRole(query: OwnerQuery, role: string, schema: string): Promise<void> {
  for (const statement of schemaGrants(schema, role)) await query(statement);
  // The excess first: a privilege that the role had only through PUBLIC is missing afterwards.
  for (const find of [FIND_EXCESS_GRANTS, FIND_MISSING_GRANTS]) {
    for (const { statement } of await query<{ statement: string }>(find, wishes(schema, role))) await query(statement);
  }
}

/** Lets the role call the functions that create and drop partitions, in the schema of the tables. */
export async function grantPartitions(query: OwnerQuery, role: string): Promise<void> {
  for (const name of OWNED_FUNCTIONS) await query(grantFunction(name, role));
}

/** A privilege of the role that it should not have. */
export interface RoleFault {
  /** A sentence without a full stop. */
  readonly fault: string;
  /** Whether it lets the role change or remove audit entries. */
  readonly onAudit: boolean;
}

/** Privileges of the role beyond its need, in the schema or as its own attributes; empty if correct. */
export function faultsOfDaemonRole(query: OwnerQuery, role: string, schema: string): Promise<RoleFault[]> {
  return query<RoleFault>(FIND_FAULTS, wishes(schema, role));
}
