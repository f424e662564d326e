import { AccountStore, type Account, type Brand } from '@countersign/accounts/accounts';
import { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { Database, DatabaseClock } from '@countersign/postgres';
import { ensurePartitions } from '@countersign/postgres/partitions';
import { SessionRenderer, SessionStore, type CreateSession } from '@countersign/session';
import { deriveToken, type FoundToken } from '@countersign/session/tokens';
import { freshDatabase, migrated, pastPartitions, type DatabaseUrls, type TestDatabase } from './database.js';

export const PHONE = '+14155552671';
export const STRANGER = '+442071838750';
export const ENTROPY_KEYS: ReadonlyMap<number, Buffer> = new Map([[1, Buffer.alloc(32, 9)]]);
const DAY_MS = 24 * 60 * 60 * 1000;

/** A migrated database with partitions, an account and a brand, and the stores that share it. */
export interface SessionHarness extends DatabaseUrls {
  /** As the daemons' role. */
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly keys: ServerKeys;
  readonly accounts: AccountStore;
  readonly sessions: SessionStore;
  readonly renderer: SessionRenderer;
  readonly account: Account;
  readonly brand: Brand;
  readonly webhookSecret: string;
  /** Ids of events of which the notifier was called after their commit. */
  readonly notifiedEventIds: string[];
  /** The fields of a session to create, with changes. */
  draft(changes?: Partial<CreateSession>): CreateSession;
  /** The token in the session's `fallbackUri`. */
  tokenOf(id: Uuid, slug?: string): FoundToken;
  close(): Promise<void>;
}

export interface SessionHarnessOptions {
  readonly poolMax?: number;
  /** Days of partitions before yesterday. */
  readonly pastDays?: number;
  /** An empty database of the test, which the harness does not drop. Default: a new one. */
  readonly testDatabase?: DatabaseUrls;
}

export async function openSessionHarness(options: SessionHarnessOptions = {}): Promise<SessionHarness> {
  const testDatabase = await databaseOf(options);
  const errors: unknown[] = [];
  const database = await Database.open({
    url: testDatabase.url,
    poolMax: options.poolMax ?? 8,
    applicationName: 'medium',
    onError: (error) => errors.push(error),
  });
  const clock = await DatabaseClock.start(database, (error) => errors.push(error));
  await ensurePartitions(database, clock.nowMs());
  if (options.pastDays !== undefined) await pastPartitions(testDatabase, clock.nowMs() - options.pastDays * DAY_MS);
  const keys = ServerKeys.fromMaster(Buffer.alloc(32, 1));
  const renderer = new SessionRenderer(keys, { entropyKeys: ENTROPY_KEYS });
  const notifiedEventIds: string[] = [];
  const onEvents = (ids: readonly string[]): void => void notifiedEventIds.push(...ids);
  const sessions = new SessionStore({ database, clock, keys, listener: { onEvents } });
  const accounts = new AccountStore({ keys, newId: () => clock.newId() });
  const { account, webhookSecret } = await accounts.createAccount(database, {
    name: 'Acme',
    defaultWebhookUrl: 'https://acme.example/hook',
  });
  const brand = await accounts.createBrand(database, {
    accountId: account.id,
    name: 'Acme',
    slug: 'ACME',
    instruction: 'Send this message.',
    entropyKeyVersion: 1,
  });
  return {
    url: testDatabase.url,
    gatewayUrl: testDatabase.gatewayUrl,
    ownerUrl: testDatabase.ownerUrl,
    database,
    clock,
    keys,
    accounts,
    sessions,
    renderer,
    account,
    brand,
    webhookSecret,
    notifiedEventIds,
    draft: (changes = {}) => ({ ...draftOf(account, brand), ...changes }),
    tokenOf: (id, slug = brand.slug) => ({ slug, token: deriveToken(keys, id) }),
    close: async () => {
      await sessions.drain();
      await clock.stop();
      // A connection that is still closing reports the drop of its database, which is no error of the test.
      const failures = [...errors];
      await database.close();
      await testDatabase.drop();
      if (failures.length > 0) throw new AggregateError(failures, 'the database reported errors');
    },
  };
}

async function databaseOf({ testDatabase }: SessionHarnessOptions): Promise<TestDatabase> {
  return testDatabase === undefined
    ? freshDatabase()
    : { ...(await migrated(testDatabase)), drop: () => Promise.resolve() };
}

function draftOf(account: Account, brand: Brand): CreateSession {
  return {
    accountId: account.id,
    brandId: brand.id,
    phone: PHONE,
    country: 'US',
    test: false,
    brandName: 'Acme',
    otpSender: null,
    otpDomain: null,
    channel: 'sms_fallback',
    clientChallenge: 'ab'.repeat(32),
    brandSlug: brand.slug,
    instruction: brand.instruction,
    inboundNumber: '+14155550100',
    webhookUrl: null,
    ttlSeconds: 90,
    allowSmsOtp: true,
    metadata: [],
    entropyKeyVersion: brand.entropyKeyVersion,
  };
}
