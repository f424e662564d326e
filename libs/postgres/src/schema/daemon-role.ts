import type { Executor } from '../executor.js';
import {
  CONNECTED_ROLE,
  FIND_EXCESS_GRANTS,
  FIND_FAULTS,
  FIND_MISSING_GRANTS,
  FIND_TEMPORARY,
  HAS_GATEWAY_ROLE,
  partitionGrants,
  schemaGrants,
} from './daemon-role.sql.js';
import { RIGHTS, type DaemonKind, type SchemaContent } from './role-rights.js';

/** Runs one statement on a connection of the owner. */
export type OwnerQuery = <Row>(text: string, values?: unknown[]) => Promise<Row[]>;

/** A role that processes connect with; it must exist. */
export interface DaemonRole {
  /** As it is, not quoted. */
  readonly name: string;
  readonly kind: DaemonKind;
}

export interface GrantedSchema {
  /** As it is, not quoted. */
  readonly name: string;
  readonly content: SchemaContent;
}

const wishes = ({ name, kind }: DaemonRole, schema: GrantedSchema): unknown[] => {
  const { named, others } = RIGHTS[kind][schema.content];
  return [schema.name, name, JSON.stringify(named), JSON.stringify(others)];
};

/**
 * Gives the role what it needs in one schema of the owner: rows of its tables, numbers of its sequences, and no
 * right to create anything. Revokes everything else on the tables that the owner granted to the role or to PUBLIC.
 * Rights on tables that nobody named are default privileges of later ones, partitions included. Run again it changes
 * nothing.
 *
 * @param query always on the same connection, in a transaction: the role never lacks a right that it has before and after
 */
export async function grantDaemonRole(query: OwnerQuery, role: DaemonRole, schema: GrantedSchema): Promise<void> {
  const { others } = RIGHTS[role.kind][schema.content];
  for (const statement of schemaGrants(schema.name, role.name, Object.keys(others))) await query(statement);
  // The excess first: a right that the role had by PUBLIC alone is missing afterwards.
  for (const find of [FIND_EXCESS_GRANTS, FIND_MISSING_GRANTS]) {
    for (const { statement } of await query<{ statement: string }>(find, wishes(role, schema))) await query(statement);
  }
}

/** Lets the role make partitions, in the schema of the tables; that of control planes also drops them. */
export async function grantPartitions(query: OwnerQuery, { name, kind }: DaemonRole): Promise<void> {
  for (const statement of partitionGrants(name, kind === 'daemon')) await query(statement);
}

/** A privilege of the role that it should not have. */
export interface RoleFault {
  /** A sentence without a full stop. */
  readonly fault: string;
  /** Whether it lets the role change or remove audit entries. */
  readonly onAudit: boolean;
}

/** Rights beyond the need of the role, in the schema or as attributes of the role. Empty when there are none. */
export function faultsOfDaemonRole(query: OwnerQuery, role: DaemonRole, schema: GrantedSchema): Promise<RoleFault[]> {
  return query<RoleFault>(FIND_FAULTS, wishes(role, schema));
}

/**
 * Calls `warn` once for each fault of the role that this process connects with, with what to do about it. A gateway is
 * judged by the rights of gateways where `migrate` has prepared a role for them, else by those of control planes. Never
 * throws: a process starts whatever is found.
 */
export async function warnOfRoleFaults(
  database: Executor,
  daemon: DaemonKind,
  warn: (message: string) => void,
): Promise<void> {
  try {
    const [connected] = await database.query<{ role: string; schema: string }>(CONNECTED_ROLE);
    if (connected === undefined) return;
    const [gatewayRole] = await database.query<{ exists: boolean }>(HAS_GATEWAY_ROLE);
    const kind = gatewayRole?.exists === true ? daemon : 'daemon';
    const role: DaemonRole = { name: connected.role, kind };
    const query: OwnerQuery = <Row>(text: string, values?: unknown[]) =>
      database.query<object>(text, values) as Promise<Row[]>;
    for (const { fault } of await faultsOfDaemonRole(query, role, { name: connected.schema, content: 'tables' })) {
      warn(
        `the role ${connected.role} of DATABASE_URL may do more than a ${kind} needs: ${fault}. Connect with a role of ` +
          'config/stack/roles.sql, or take this away, and run "npm run migrate"',
      );
    }
    for (const { statement } of await database.query<{ statement: string }>(FIND_TEMPORARY, [connected.role])) {
      warn(
        `the role ${connected.role} of DATABASE_URL may create temporary tables, which a connection pooler hands on to its ` +
          `other clients: run "${statement}" as the owner of the database`,
      );
    }
  } catch (error) {
    warn(`the rights of the role of DATABASE_URL could not be checked: ${String(error)}`);
  }
}
