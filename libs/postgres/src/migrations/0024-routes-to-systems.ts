import { setTimeout as delay } from 'node:timers/promises';
import { QueryFailedError, type MigrationInterface, type QueryRunner } from 'typeorm';

/** One try of the lock: statements that come meanwhile wait no longer behind it. */
const LOCK_TRY_MS = 500;
const BETWEEN_TRIES_MS = 1_000;
const TRIES = 60;
/** lock_not_available (PostgreSQL, appendix A). */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * A route leads to a bind, or to a system that connects in; a code is sent over a connection of either. The previous
 * release ignores routes to systems: it joins binds.
 */
export class RoutesToSystems1700000000024 implements MigrationInterface {
  readonly name = 'RoutesToSystems1700000000024';

  async up(runner: QueryRunner): Promise<void> {
    // First, so that no other table is locked while this one is waited for.
    await underShortLock(runner, 'ALTER TABLE outbound_messages ADD COLUMN system_id uuid');
    await runner.query(`
      ALTER TABLE smpp_systems ADD COLUMN deliver_per_second integer NOT NULL DEFAULT 50
        CHECK (deliver_per_second BETWEEN 1 AND 100000)`);
    await runner.query(`
      ALTER TABLE routes ALTER COLUMN bind_id DROP NOT NULL, ADD COLUMN system_id uuid REFERENCES smpp_systems (id),
        ADD CONSTRAINT routes_target_check CHECK (num_nonnulls(bind_id, system_id) = 1)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await underShortLock(runner, 'ALTER TABLE outbound_messages DROP COLUMN system_id');
    await runner.query('DELETE FROM routes WHERE bind_id IS NULL');
    await runner.query(`
      ALTER TABLE routes DROP CONSTRAINT routes_target_check, DROP COLUMN system_id, ALTER COLUMN bind_id SET NOT NULL`);
    await runner.query('ALTER TABLE smpp_systems DROP COLUMN deliver_per_second');
  }
}

/** A statement that waits for an open transaction would hold up all others behind it, so it gives up early and tries again. */
async function underShortLock(runner: QueryRunner, statement: string): Promise<void> {
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

function isLockTimeout(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  const cause: unknown = error.driverError;
  return cause instanceof Error && 'code' in cause && cause.code === LOCK_NOT_AVAILABLE;
}
