import { firstIdAt, parseId, type Uuid } from '@countersign/ids';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { underShortLock } from './under-short-lock.js';

/** URLs that were an account's, each with the last time at which it was replaced. A digest has a fixed size; a URL may exceed the page of an index. */
const TABLE = `
  CREATE TABLE former_webhook_urls (
    account_id uuid NOT NULL,
    test boolean NOT NULL,
    url_digest bytea NOT NULL,
    replaced_at timestamptz(3) NOT NULL,
    PRIMARY KEY (account_id, test, url_digest))`;

const INDEX = `CREATE INDEX former_webhook_urls_age ON former_webhook_urls (replaced_at)`;

/** In the database, since processes of the previous release change URLs too. Runs with the rights of the process that changes one. */
const KEEP = `
  CREATE FUNCTION keep_former_webhook_urls() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO former_webhook_urls (account_id, test, url_digest, replaced_at)
    SELECT OLD.id, former.test, sha256(convert_to(former.url, 'UTF8')), clock_timestamp()
    FROM (VALUES (false, OLD.default_webhook_url, NEW.default_webhook_url), (true, OLD.test_webhook_url, NEW.test_webhook_url))
      AS former (test, url, next)
    WHERE former.url IS DISTINCT FROM former.next AND former.url IS NOT NULL
    ON CONFLICT (account_id, test, url_digest) DO UPDATE SET replaced_at = excluded.replaced_at;
    RETURN NULL;
  END $$`;

const TRIGGER = `
  CREATE TRIGGER keep_former_webhook_urls AFTER UPDATE OF default_webhook_url, test_webhook_url ON accounts FOR EACH ROW
  WHEN (OLD.default_webhook_url IS DISTINCT FROM NEW.default_webhook_url OR OLD.test_webhook_url IS DISTINCT FROM NEW.test_webhook_url)
  EXECUTE FUNCTION keep_former_webhook_urls()`;

/** Deliveries without a body are younger: a schedule ends after a little more than a day, or twice that with Retry-After. */
const READ_MS = 4 * 24 * 3_600_000;
const MAX_READ = 20_000;

/** Replaced URLs of accounts by the newest entries of the audit log. $1 lowest id, $2 how many entries at most. */
const FROM_AUDIT = `
  SELECT resource_id AS account, former.test, sha256(convert_to(former.url, 'UTF8')) AS digest, max(at) AS at
  FROM (SELECT resource_id, at, before, after FROM audit_entries WHERE id >= $1 AND resource = 'accounts' ORDER BY id DESC LIMIT $2)
      AS entry,
    LATERAL (VALUES
      (false, before ->> 'defaultWebhookUrl', after ->> 'defaultWebhookUrl'),
      (true, before ->> 'testWebhookUrl', after ->> 'testWebhookUrl')) AS former (test, url, next)
  WHERE former.url IS DISTINCT FROM former.next AND former.url IS NOT NULL
  GROUP BY 1, 2, 3`;

/** $1 to $4 one array per column. */
const FILL = `
  INSERT INTO former_webhook_urls (account_id, test, url_digest, replaced_at)
  SELECT * FROM unnest($1::uuid[], $2::boolean[], $3::bytea[], $4::timestamptz[]) ON CONFLICT DO NOTHING`;

interface Replaced {
  readonly account: string;
  readonly test: boolean;
  readonly digest: Buffer;
  readonly at: Date;
}

/** Former webhook URLs of accounts, to which their events may still go: one read of an index for each. */
export class FormerWebhookUrls1700000000079 implements MigrationInterface {
  readonly name = 'FormerWebhookUrls1700000000079';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [TABLE, INDEX, KEEP]) await runner.query(statement);
    // Before the audit log is read, so that no change is missed.
    await underShortLock(runner, TRIGGER);
    const found = (await runner.query(FROM_AUDIT, [firstIdAt(Date.now() - READ_MS), MAX_READ])) as Replaced[];
    const rows = found.flatMap(({ account, ...row }) => {
      const accountId: Uuid | null = parseId('acct', account);
      return accountId === null ? [] : [{ ...row, accountId }];
    });
    const columns = [rows.map(({ accountId }) => accountId), rows.map(({ test }) => test)];
    await runner.query(FILL, [...columns, rows.map(({ digest }) => digest), rows.map(({ at }) => at)]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await underShortLock(runner, 'DROP TRIGGER keep_former_webhook_urls ON accounts');
    await runner.query('DROP FUNCTION keep_former_webhook_urls');
    await runner.query('DROP TABLE former_webhook_urls');
  }
}
