import { createHash } from 'node:crypto';
import pg from 'pg';

/** Names of the statements that connections keep, by text. */
const names = new Map<string, string>();

/**
 * Declares a frequent statement that each connection keeps: PostgreSQL parses it once, and from its sixth run on it also
 * keeps its plan unless plans for the parameters are cheaper. For statements that write rows, or that find them by a unique
 * key of a table without partitions. A kept plan locks every partition that the statement could read, so one that reads a
 * partitioned table is declared with `onDays`.
 *
 * The name is of the text: one name is never of two texts, whichever releases share a server.
 *
 * @returns the text
 */
export function prepared(text: string): string {
  names.set(text, statementName(text));
  return text;
}

export const statementName = (text: string): string =>
  `cs_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;

/** The name of a statement that connections keep; undefined for every other text. */
export const preparedName = (text: string): string | undefined => names.get(text);

/** Whether the server has acknowledged the statement on this connection. `pg` counts them; its types do not say so. */
export function hasParsed({ connection }: pg.PoolClient, name: string): boolean {
  const parsed: unknown = 'parsedStatements' in connection ? connection.parsedStatements : undefined;
  return typeof parsed === 'object' && parsed !== null && name in parsed;
}

const stateOf = (error: unknown): string | undefined => (error instanceof pg.DatabaseError ? error.code : undefined);

/**
 * The partition of a day does not exist, or the role has no rights on it, which "npm run migrate" gives: the statement is run on
 * the table.
 */
export const isWithoutPartition = (error: unknown): boolean => {
  const state = stateOf(error);
  return state === '42P01' || state === '42501';
};

/** A migration changed the columns that a kept statement returns: new connections parse it again. */
export const hasStalePlan = (error: unknown): boolean => stateOf(error) === '0A000';

/**
 * A transaction pooler sent the statement to a server connection that does not keep it, or that keeps it for another
 * client. `parsed` is from before the statement was sent.
 */
export const isLostByPooler = (error: unknown, parsed: boolean): boolean =>
  stateOf(error) === (parsed ? '26000' : '42P05');
