import { setTimeout as delay } from 'node:timers/promises';
import { QueryFailedError, type MigrationInterface, type QueryRunner } from 'typeorm';

const FORMATS = `'international', 'national', 'auto'`;
const FATES = `'matched', 'duplicate', 'wrong_sender', 'unknown_token', 'expired', 'ended', 'no_token', 'untrusted'`;

const LINKS = [
  // How a link writes senders of unknown type (TON 0) that have neither a plus nor 00.
  `ALTER TABLE binds ADD COLUMN sender_format text NOT NULL DEFAULT 'auto' CHECK (sender_format IN (${FORMATS}))`,
  `ALTER TABLE smpp_systems ADD COLUMN sender_format text NOT NULL DEFAULT 'auto' CHECK (sender_format IN (${FORMATS}))`,
  // Sender evidence of a bind or a system in auto: keyed digests of numbers that had one reading
  // alone, until enough of them agree (learned) or two contradict each other (mixed). The epoch rises whenever the
  // evidence is discarded, so that a gateway cannot add what it saw before.
  `CREATE TABLE sender_formats (
    link_id uuid PRIMARY KEY,
    epoch integer NOT NULL DEFAULT 0,
    reading text CHECK (reading IN ('international', 'national')),
    digests bytea[] NOT NULL DEFAULT '{}' CHECK (cardinality(digests) <= 20),
    learned text CHECK (learned IN ('international', 'national', 'mixed')),
    learned_at timestamptz(3),
    CHECK ((learned IS NULL) = (learned_at IS NULL)),
    CHECK (learned IS NULL OR (reading IS NULL AND cardinality(digests) = 0)),
    CHECK ((reading IS NULL) = (cardinality(digests) = 0))
  )`,
];

/** One try of the lock: inserts that come meanwhile wait no longer behind it. */
const LOCK_TRY_MS = 500;
const BETWEEN_TRIES_MS = 1_000;
const TRIES = 60;
/** lock_not_available (PostgreSQL, appendix A). */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Old rows satisfy the wider check because they satisfied the narrower one: NOT VALID spares the scan of every partition
 * under the lock.
 */
const checkOf = (fates: string): string =>
  `ALTER TABLE messages DROP CONSTRAINT messages_fate_check,
    ADD CONSTRAINT messages_fate_check CHECK (fate IN (${fates})) NOT VALID`;

/** Senders that two numbers may have sent: a setting of each link, what a link's senders show, and a fate of their own. */
export class SenderFormat1700000000007 implements MigrationInterface {
  readonly name = 'SenderFormat1700000000007';

  async up(runner: QueryRunner): Promise<void> {
    // First, so that no other table is locked while this one is waited for.
    await underShortLock(runner, checkOf(`${FATES}, 'ambiguous_sender'`));
    for (const statement of LINKS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`UPDATE messages SET fate = 'wrong_sender' WHERE fate = 'ambiguous_sender'`);
    await underShortLock(
      runner,
      `ALTER TABLE messages DROP CONSTRAINT messages_fate_check,
      ADD CONSTRAINT messages_fate_check CHECK (fate IN (${FATES}))`,
    );
    await runner.query(`DROP TABLE sender_formats`);
    for (const table of ['binds', 'smpp_systems']) {
      await runner.query(`ALTER TABLE ${table} DROP COLUMN sender_format`);
    }
  }
}

/** A statement that waits for an open read would hold up every insert behind it, so it gives up early and tries again. */
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
