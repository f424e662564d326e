import { FIND_FAULTS, FIND_MISSING_GRANTS, grantFunction, OWNED_FUNCTIONS, schemaGrants } from './daemon-role.sql.js';

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

/**
 * Gives the daemons' role what it needs in one schema of the owner: rows of its tables, numbers of its sequences, and no
 * right to create anything. Partitions that are made later inherit it as default privileges. Run again it changes nothing.
 *
 * @param schema as it is, not quoted
 */
export async function grantDaemonRole(query: OwnerQuery, role: string, schema: string): Promise<void> {
  for (const statement of schemaGrants(schema, role)) await query(statement);
  const missing = await query<{ statement: string }>(FIND_MISSING_GRANTS, [
    schema,
    role,
    Object.keys(RESTRICTED),
    Object.values(RESTRICTED).map((privileges) => privileges.join(',')),
    USUAL.join(','),
  ]);
  for (const { statement } of missing) await query(statement);
}

/** Lets the role call the functions that make and drop partitions, in the schema of the tables. */
export async function grantPartitions(query: OwnerQuery, role: string): Promise<void> {
  for (const name of OWNED_FUNCTIONS) await query(grantFunction(name, role));
}

/** Reasons for which the role could do more than it should, one sentence each; none when it is as it should be. */
export async function faultsOfDaemonRole(query: OwnerQuery, role: string): Promise<string[]> {
  const rows = await query<{ fault: string }>(FIND_FAULTS, [role]);
  return rows.map(({ fault }) => fault);
}
