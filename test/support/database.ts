import { randomBytes } from 'node:crypto';
import { prepareDatabase } from '@countersign/events';
import { Database } from '@countersign/postgres';
import { ensurePartitions } from '@countersign/postgres/partitions';
import pg from 'pg';
import { inject } from 'vitest';
import { roleUrls } from '../../config/stack/postgres-roles.mjs';

/** The URLs of one database, by role. */
export interface DatabaseUrls {
  /** As the daemons' role. */
  readonly url: string;
  /** As the gateways' role. */
  readonly gatewayUrl: string;
  /** As the role that owns the tables. */
  readonly ownerUrl: string;
}

export interface TestDatabase extends DatabaseUrls {
  /** Closes all remaining connections first. */
  drop(): Promise<void>;
}

async function run(url: string, statement: string, values: readonly unknown[] = []): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement, [...values]);
  } finally {
    await client.end();
  }
}

const asAdmin = (statement: string): Promise<void> => run(inject('databaseUrl'), statement);

/** Runs a statement that the daemons' role may not run: a change of tables, or of all of their rows. */
export const asOwner = (
  { ownerUrl }: DatabaseUrls,
  statement: string,
  values: readonly unknown[] = [],
): Promise<void> => run(ownerUrl, statement, values);

/** Creates a database without tables on the server of this run. */
export async function emptyDatabase(): Promise<TestDatabase> {
  const name = `countersign_test_${randomBytes(6).toString('hex')}`;
  const { ownerUrl, appUrl, gatewayUrl } = roleUrls(inject('databaseUrl'));
  await asAdmin(`CREATE DATABASE ${name} OWNER ${new URL(ownerUrl).username}`);
  const [url, gateway] = [inDatabase(appUrl, name), inDatabase(gatewayUrl, name)];
  const home = { url, gatewayUrl: gateway, ownerUrl: inDatabase(ownerUrl, name) };
  // As config/stack/roles.sql does in the database of a run.
  await asOwner(home, `REVOKE ALL ON DATABASE ${name} FROM PUBLIC`);
  await asOwner(
    home,
    `GRANT CONNECT ON DATABASE ${name} TO ${new URL(appUrl).username}, ${new URL(gatewayUrl).username}`,
  );
  return { ...home, drop: () => asAdmin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** Creates an empty database that belongs to the superuser, as those of earlier releases did. */
export async function superuserDatabase(): Promise<TestDatabase & { readonly superuserUrl: string }> {
  const name = `countersign_test_${randomBytes(6).toString('hex')}`;
  const { ownerUrl, appUrl, gatewayUrl } = roleUrls(inject('databaseUrl'));
  await asAdmin(`CREATE DATABASE ${name}`);
  return {
    url: inDatabase(appUrl, name),
    gatewayUrl: inDatabase(gatewayUrl, name),
    ownerUrl: inDatabase(ownerUrl, name),
    superuserUrl: inDatabase(inject('databaseUrl'), name),
    drop: () => asAdmin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

function inDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** The URL by which the gateways' role reaches that database through a line. */
export function gatewayUrlBy(lineUrl: string, { gatewayUrl }: Pick<DatabaseUrls, 'gatewayUrl'>): string {
  const url = new URL(gatewayUrl);
  url.host = new URL(lineUrl).host;
  return url.href;
}

/** Migrates the database and grants the roles of the daemons their rights, as `npm run migrate` does. */
export async function migrated<Home extends DatabaseUrls>(home: Home): Promise<Home> {
  const { faults } = await prepareDatabase({
    ownerUrl: home.ownerUrl,
    daemonRole: new URL(home.url).username,
    gatewayRole: new URL(home.gatewayUrl).username,
  });
  if (faults.length > 0) throw new Error(faults.map(({ role, fault }) => `${role}: ${fault}`).join(', '));
  return home;
}

/** Creates a migrated database for a spec file; drop it in `afterAll`. The test creates partitions itself. */
export async function freshDatabase(): Promise<TestDatabase> {
  return migrated(await emptyDatabase());
}

/** Creates the partitions that a daemon would have created at that time; today's daemons do not create past ones. */
export async function pastPartitions({ ownerUrl }: DatabaseUrls, ...timesMs: readonly number[]): Promise<void> {
  const options = { url: ownerUrl, poolMax: 2, applicationName: 'test', onError: () => undefined };
  const database = await Database.open(options);
  try {
    for (const nowMs of timesMs) await ensurePartitions(database, nowMs);
  } finally {
    await database.close();
  }
}
