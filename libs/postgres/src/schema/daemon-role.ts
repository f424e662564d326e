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

/** Tables that the daemons' role may not change at will; every other table it may read and write. */
const RESTRICTED: Readonly<Record<string, readonly string[]>> = {
  // A log that could be edited would prove nothing.
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
 * Gives the daemons' role what it needs in one schema of the owner: rows of its tables, numbers of its sequences, and no
 * right to create anything. Revokes everything else on the tables that the owner granted to the role or to PUBLIC.
 * Partitions that are made later inherit it as default privileges. Run again it changes nothing.
 *
 * @param query always on the same connection, in a transaction: the role never lacks a right that it has before and after
 * @param schema as it is, not quoted
 */
export async function grantDaemonRole(query: OwnerQuery, role: string, schema: string): Promise<void> {
  for (const statement of schemaGrants(schema, role)) await query(statement);
  // The excess first: a right that the role had by PUBLIC alone is missing afterwards.
  for (const find of [FIND_EXCESS_GRANTS, FIND_MISSING_GRANTS]) {
    for (const { statement } of await query<{ statement: string }>(find, wishes(schema, role))) await query(statement);
  }
}

/** Lets the role call the functions that make and drop partitions, in the schema of the tables. */
export async function grantPartitions(query: OwnerQuery, role: string): Promise<void> {
  for (const name of OWNED_FUNCTIONS) await query(grantFunction(name, role));
}

/** Something that the role could do and should not. */
export interface RoleFault {
  /** A sentence without a full stop. */
  readonly fault: string;
  /** Whether the role could change or remove audit entries by it. */
  readonly onAudit: boolean;
}

/** What the role can do beyond its need, by rights in the schema or its own attributes; none when it is as it should be. */
export function faultsOfDaemonRole(query: OwnerQuery, role: string, schema: string): Promise<RoleFault[]> {
  return query<RoleFault>(FIND_FAULTS, wishes(schema, role));
}
