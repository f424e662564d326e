import { setTimeout as delay } from 'node:timers/promises';
import { QueryFailedError, type QueryRunner } from 'typeorm';

/** One try of the lock: statements that come meanwhile wait no longer behind it. */
export const LOCK_TRY_MS = 500;
/** Pause after a try, and the number of tries; a minute and a half in all. */
export const BETWEEN_TRIES_MS = 1_000;
export const TRIES = 60;
/** lock_not_available (PostgreSQL, appendix A). */
const LOCK_NOT_AVAILABLE = '55P03';

/** A statement that waits for an open transaction would hold up all others behind it, so it gives up early and tries again. */
export async function underShortLock(runner: QueryRunner, statement: string): Promise<void> {
  await runner.query(`SET LOCAL lock_timeout = '${LOCK_TRY_MS}ms'`);
  for (let tries = 1; ; tries += 1) {
    await runner.query('SAVEPOINT before_lock');
    try {
      await runner.query(statement);
      break;
    } catch (error) {
      if (tries === TRIES || !isLockTimeout(error)) throw error;
      await runner.query('ROLLBACK TO SAVEPOINT before_lock');
      await delay(BETWEEN_TRIES_MS);
    }
  }
  await runner.query('SET LOCAL lock_timeout = DEFAULT');
}

/** As `underShortLock`, in a transaction of its own, so that no lock is held while another one is waited for. */
export async function inOwnTransaction(runner: QueryRunner, statement: string): Promise<void> {
  await runner.startTransaction();
  try {
    await underShortLock(runner, statement);
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}

/**
 * Runs a statement that waits for the transactions under way and holds up nobody behind it, such as CREATE INDEX CONCURRENTLY, for
 * which they are not waited in short tries.
 */
export async function withoutLockTimeout(runner: QueryRunner, statement: string): Promise<void> {
  await runner.query('SET lock_timeout = 0');
  try {
    await runner.query(statement);
  } finally {
    await runner.query('RESET lock_timeout');
  }
}

/** Whether a statement gave up waiting for a lock. */
export function isLockTimeout(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  const cause: unknown = error.driverError;
  return cause instanceof Error && 'code' in cause && cause.code === LOCK_NOT_AVAILABLE;
}
