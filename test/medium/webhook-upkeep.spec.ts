import type { Account } from '@countersign/accounts/accounts';
import { ACCOUNTS } from '@countersign/accounts/records';
import { DefaultWebhookStore } from '@countersign/accounts/webhooks';
import { AuditStore, EventStore } from '@countersign/events';
import { newId, renderId, type Uuid } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listDeliveries } from '../../apps/control-plane/src/webhooks/account-deliveries.sql.js';
import type { DeliveryStatus, Verdict } from '../../apps/control-plane/src/webhooks/attempt.js';
import { BodySweeper } from '../../apps/control-plane/src/webhooks/body.sweeper.js';
import { FailingEndpointMonitor } from '../../apps/control-plane/src/webhooks/failing-endpoint.monitor.js';
import { DisabledUrlStore } from '../../apps/control-plane/src/webhooks/disabled-url.store.js';
import { FailingUrlService } from '../../apps/control-plane/src/webhooks/failing-url.service.js';
import { FormerUrlSweeper } from '../../apps/control-plane/src/webhooks/former-url.sweeper.js';
import { asOwner, pastPartitions } from '../support/database.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { until } from '../support/until.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const URL_IN_USE = 'https://acme.example/hook';

let harness: SessionHarness;
let monitor: FailingEndpointMonitor;
let disabled: Uuid[];
let errors: unknown[];

beforeAll(async () => {
  harness = await openSessionHarness({ pastDays: 6 });
  await pastPartitions(harness, ...[1, 2, 3, 4, 5].map((day) => harness.clock.nowMs() - day * DAY_MS));
});
afterAll(() => harness.close());
beforeEach(async () => {
  [disabled, errors] = [[], []];
  monitor = monitorOf();
  for (const table of ['deliveries', 'events', 'audit_entries']) await asOwner(harness, `DELETE FROM ${table}`);
  await harness.database.query(
    `UPDATE accounts SET default_webhook_url = $1, default_webhook_failing_since = NULL, default_webhook_disabled_at = NULL,
       default_webhook_disabled_reason = NULL`,
    [URL_IN_USE],
  );
});
afterEach(async () => {
  await monitor.stop();
  expect(errors).toEqual([]);
});

const failures = { about: () => (error: unknown) => void errors.push(error) };

function monitorOf(): FailingEndpointMonitor {
  const { database, clock, accounts } = harness;
  const defaults = new DefaultWebhookStore();
  const audit = new AuditStore(clock);
  const disabledUrls = new DisabledUrlStore(clock, defaults, accounts, new EventStore(), audit);
  const notifier = { notify: (ids: readonly Uuid[]) => void disabled.push(...ids) };
  const failingUrls = new FailingUrlService(database, clock, defaults, disabledUrls, notifier);
  return new FailingEndpointMonitor(database, defaults, failingUrls, failures);
}

const ago = (ms: number): Date => new Date(harness.clock.nowMs() - ms);

/** Notes an attempt with this outcome at a URL of the account, and writes it. */
async function noteAttempt(status: DeliveryStatus, at = ago(0), url = URL_IN_USE): Promise<void> {
  const attempt = { at: at.toISOString(), status: null, latencyMs: 1, error: 'ECONNREFUSED' };
  const verdict: Verdict = { status, nextAttemptAt: null, attempt };
  monitor.noteAttempt({ accountId: harness.account.id, test: false, url }, verdict);
  await monitor.flush();
}

/** Inserts an ended delivery. */
async function insertEnded(status: DeliveryStatus, endedAt: Date, url = URL_IN_USE): Promise<Uuid> {
  const id = newId(endedAt.getTime());
  await harness.database.query(
    `INSERT INTO deliveries (id, account_id, type, url, status, occurred_at, ended_at, body_sealed)
     VALUES ($1, $2, 'webhook.test', $3, $4, $5, $5, 'sealed')`,
    [id, harness.account.id, url, status, endedAt],
  );
  return id;
}

async function account(): Promise<Account> {
  const found = await ACCOUNTS.find(harness.database, harness.account.id);
  if (found === null) throw new Error('unreachable');
  return found;
}

async function failingSince(): Promise<Date | null> {
  const [row] = await harness.database.query<{ since: Date | null }>(
    'SELECT default_webhook_failing_since AS since FROM accounts WHERE id = $1',
    [harness.account.id],
  );
  return row?.since ?? null;
}

describe('a default URL', () => {
  it('that only failed for five days is disabled once, with an event and an audit entry', async () => {
    await noteAttempt('pending', ago(5 * DAY_MS + HOUR_MS));
    expect((await account()).defaultWebhookDisabledAt).toBeNull();
    monitor = monitorOf();
    await noteAttempt('failed');
    const { defaultWebhookUrl, defaultWebhookDisabledAt, defaultWebhookDisabledReason: reason } = await account();
    expect([defaultWebhookUrl, defaultWebhookDisabledAt]).toEqual([URL_IN_USE, expect.any(Date)]);
    expect(reason).toMatch(/^Nothing but failure in 5 days, since 2/);
    const accountId = renderId('acct', harness.account.id);
    const events = await harness.database.query(
      'SELECT id, type, data, webhook_url AS url, session_id AS session FROM events',
    );
    const data = { accountId, url: URL_IN_USE, reason };
    expect(events).toEqual([{ id: disabled[0], type: 'webhook.disabled', data, url: null, session: null }]);
    const [entry] = await harness.database.query(
      'SELECT actor, action, resource_id AS id, request_id AS request FROM audit_entries',
    );
    expect(entry).toEqual({ actor: 'system', action: 'disable-webhook', id: accountId, request: null });
    monitor = monitorOf();
    await noteAttempt('failed');
    expect(disabled).toHaveLength(1);
  });

  it('receives no events while it is disabled, and receives them again once it is set again', async () => {
    await noteAttempt('pending', ago(6 * DAY_MS));
    monitor = monitorOf();
    await noteAttempt('pending');
    const event = async (): Promise<string | null> => {
      const id = harness.clock.newId();
      await new EventStore().append(harness.database, [
        {
          ...{ id, type: 'verification.completed', accountId: harness.account.id, test: false, sessionId: id },
          ...{ occurredAt: ago(0), data: '{}', sessionWebhookUrl: null },
        },
      ]);
      const [row] = await harness.database.query<{ url: string | null }>(
        'SELECT webhook_url AS url FROM events WHERE id = $1',
        [id],
      );
      return row?.url ?? null;
    };
    expect(await event()).toBeNull();
    const again = { defaultWebhookDisabledAt: null, defaultWebhookDisabledReason: null };
    await harness.accounts.updateAccount(harness.database, { ...(await account()), ...again });
    expect([await event(), await failingSince()]).toEqual([URL_IN_USE, null]);
  });

  it('with a success in between stays enabled, even if the success was not noted', async () => {
    await noteAttempt('pending', ago(6 * DAY_MS));
    await insertEnded('succeeded', ago(2 * DAY_MS));
    monitor = monitorOf();
    await noteAttempt('pending');
    expect([(await account()).defaultWebhookDisabledAt, await failingSince(), disabled]).toEqual([null, null, []]);
  });

  it('is disabled despite successes of another URL, or before it began to fail', async () => {
    await noteAttempt('pending', ago(5 * DAY_MS + HOUR_MS));
    await insertEnded('succeeded', ago(DAY_MS), 'https://acme.example/other');
    await insertEnded('succeeded', ago(5 * DAY_MS + 2 * HOUR_MS));
    monitor = monitorOf();
    await noteAttempt('blocked');
    expect(disabled).toHaveLength(1);
  });

  it('starts to count again with every success, and with another URL', async () => {
    await noteAttempt('pending', ago(4 * DAY_MS));
    expect(await failingSince()).not.toBeNull();
    await noteAttempt('succeeded');
    expect(await failingSince()).toBeNull();
    await noteAttempt('pending', ago(4 * DAY_MS));
    await harness.accounts.updateAccount(harness.database, {
      ...(await account()),
      defaultWebhookUrl: 'https://acme.example/new',
    });
    expect(await failingSince()).toBeNull();
  });

  it('does not fail by attempts that never reached it', async () => {
    const attempt = { at: ago(6 * DAY_MS).toISOString(), status: null, latencyMs: 1, error: 'proxy: ECONNREFUSED' };
    const verdict: Verdict = { status: 'pending', nextAttemptAt: null, attempt, notSent: true };
    monitor.noteAttempt({ accountId: harness.account.id, test: false, url: URL_IN_USE }, verdict);
    await monitor.flush();
    expect(await failingSince()).toBeNull();
  });

  it('does not count attempts at URLs of sessions', async () => {
    await noteAttempt('failed', ago(6 * DAY_MS), 'https://acme.example/other');
    monitor = monitorOf();
    await noteAttempt('failed', ago(0), 'https://acme.example/other');
    expect([await failingSince(), disabled]).toEqual([null, []]);
  });

  it('is checked without a lock on the account', async () => {
    await noteAttempt('pending', ago(6 * DAY_MS));
    monitor = monitorOf();
    const { database } = harness;
    const disabling = await database.transaction(async (tx) => {
      await tx.query('LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE');
      const flushed = noteAttempt('pending');
      await until('the search waits for the table of deliveries', 5_000, async () => {
        const [row] = await database.query<{ waits: boolean }>(
          `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database
             WHERE datname = current_database()) AND locktype = 'relation') AS waits`,
        );
        return row?.waits === true;
      });
      await database.query(`UPDATE accounts SET name = name WHERE id = $1`, [harness.account.id]);
      return { flushed };
    });
    await disabling.flushed;
    expect(disabled).toHaveLength(1);
  });

  it('that succeeds during the search stays enabled', async () => {
    await noteAttempt('pending', ago(6 * DAY_MS));
    monitor = monitorOf();
    const { database } = harness;
    // The monitor has searched the deliveries before it waits for the lock on the account.
    const disabling = await database.transaction(async (tx) => {
      await tx.query('SELECT FROM accounts WHERE id = $1 FOR UPDATE', [harness.account.id]);
      const flushed = noteAttempt('pending');
      await until('the monitor waits for the account', 5_000, async () => {
        const [row] = await database.query<{ waits: boolean }>(
          `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock') AS waits`,
        );
        return row?.waits === true;
      });
      await insertEnded('succeeded', ago(0));
      return { flushed };
    });
    await disabling.flushed;
    expect([(await account()).defaultWebhookDisabledAt, disabled]).toEqual([null, []]);
  });

  it('is disabled once by many processes', async () => {
    await noteAttempt('pending', ago(6 * DAY_MS));
    const verdict: Verdict = {
      ...{ status: 'failed', nextAttemptAt: null },
      attempt: { at: ago(0).toISOString(), status: 500, latencyMs: 1 },
    };
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const other = monitorOf();
        other.noteAttempt({ accountId: harness.account.id, test: false, url: URL_IN_USE }, verdict);
        await other.flush();
        await other.stop();
      }),
    );
    expect(disabled).toHaveLength(1);
  });
});

/** A node of an execution plan. */
interface Step {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Step[];
}

/** The rows of tables that the plan has read. */
const rowsRead = (step: Step): number =>
  (step.Plans ?? []).map(rowsRead).reduce((sum, each) => sum + each, 0) +
  (step['Relation Name'] === undefined
    ? 0
    : (step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0)) * step['Actual Loops']);

describe('the list of an account’s deliveries', () => {
  it.each<[string, DeliveryStatus[]]>([
    ['of a status without deliveries', ['blocked']],
    ['of a rare status', ['failed']],
    ['of a frequent status', ['succeeded']],
    ['of all statuses', ['pending', 'succeeded', 'failed', 'blocked']],
  ])('%s reads few more rows than it shows', async (_which, statuses) => {
    // In partitions of past days: a partition of today may be so small that it is read as a whole.
    const lastMs = new Date(harness.clock.nowMs()).setUTCHours(0, 0, 0, 0) - 1;
    const ids = Array.from({ length: 5_000 }, (_, at) => newId(lastMs - at * 60_000));
    await harness.database.query(
      `INSERT INTO deliveries (id, account_id, type, url, status, occurred_at)
       SELECT id, $2, 'webhook.test', $3, CASE WHEN n % 1000 = 0 THEN 'failed' ELSE 'succeeded' END, now()
       FROM unnest($1::uuid[]) WITH ORDINALITY AS made (id, n)`,
      [ids, harness.account.id, URL_IN_USE],
    );
    await asOwner(harness, 'ANALYZE deliveries');
    const [row] = await harness.database.query<{ 'QUERY PLAN': { Plan: Step }[] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${listDeliveries(statuses)}`,
      [harness.account.id, null, 21, false],
    );
    const plan = row?.['QUERY PLAN'][0]?.Plan;
    expect(plan === undefined ? NaN : rowsRead(plan)).toBeLessThanOrEqual(100);
  });
});

describe('the body of a delivery', () => {
  it('is deleted 72 hours after its end, and no sooner', async () => {
    const old = await Promise.all([73, 100, 140].map((hours) => insertEnded('failed', ago(hours * HOUR_MS))));
    const young = await insertEnded('succeeded', ago(71 * HOUR_MS));
    const sweeper = new BodySweeper(harness.database, failures);
    await sweeper.stop();
    await sweeper.sweep();
    const kept = await harness.database.query<{ id: Uuid }>('SELECT id FROM deliveries WHERE body_sealed IS NOT NULL');
    expect(kept).toEqual([{ id: young }]);
    const rows = await harness.database.query<{ id: Uuid }>('SELECT id FROM deliveries WHERE body_sealed IS NULL');
    expect(rows.map(({ id }) => id).sort()).toEqual(old.sort());
  });
});

describe('a former URL of an account', () => {
  it('is kept for as long as a session that may have had it, and by its last end', async () => {
    const { database } = harness;
    const setDefault = (url: string): Promise<unknown> =>
      database.query('UPDATE accounts SET default_webhook_url = $1', [url]);
    const remembered = async (): Promise<unknown[]> => database.query('SELECT 1 FROM former_webhook_urls');
    const sweeper = new FormerUrlSweeper(database, { retentionDays: 30 }, failures);
    await sweeper.stop();
    await database.query('DELETE FROM former_webhook_urls');
    for (const n of [1, 2, 1, 1, 3]) await setDefault(`https://acme.example/${n}`);
    expect(await remembered()).toHaveLength(3);
    await database.query(`UPDATE former_webhook_urls SET replaced_at = replaced_at - interval '30 days 23 hours'`);
    expect(await sweeper.sweep()).toBe(0);
    await setDefault('https://acme.example/1');
    await database.query(`UPDATE former_webhook_urls SET replaced_at = replaced_at - interval '2 hours'`);
    await setDefault(URL_IN_USE);
    expect(await sweeper.sweep()).toBe(2);
    expect(await remembered()).toHaveLength(2);
  });
});
