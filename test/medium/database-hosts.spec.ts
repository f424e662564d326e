import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Database, DatabaseUnavailable, readinessOf } from '@countersign/postgres';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { promote, startPair, type PostgresServer } from '../support/standby.js';
import { until } from '../support/until.js';

const FAILOVER_MS = 30_000;
const PORT = 'SELECT inet_server_port() AS port';

describe('a database URL with several hosts', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-hosts-'));
  let primary: PostgresServer;
  let standby: PostgresServer;
  const opened: Database[] = [];

  beforeAll(async () => {
    ({ primary, standby } = await startPair(folder));
  }, 60_000);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
  });
  afterAll(async () => {
    await standby.stop();
    await primary.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const urlOf = (...ports: number[]): string => {
    const { username, password } = new URL(primary.url);
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
    return `postgres://${username}:${password}@${hosts}/postgres?target_session_attrs=read-write`;
  };
  async function open(...ports: number[]): Promise<Database> {
    const onError = (): void => undefined;
    const database = await Database.open({ url: urlOf(...ports), poolMax: 3, applicationName: 'test', onError });
    opened.push(database);
    return database;
  }
  const portOf = async (database: Database): Promise<number | undefined> =>
    (await database.query<{ port: number }>(PORT))[0]?.port;

  it('leads to the one that takes writes, whatever the order, and past one that does not answer', async () => {
    for (const ports of [
      [primary.port, standby.port],
      [standby.port, primary.port],
      [1, standby.port, primary.port],
    ]) {
      expect(await portOf(await open(...ports))).toBe(primary.port);
    }
  });

  it('is unavailable without such a host, and names what each said', async () => {
    const opening = open(standby.port, 1);
    await expect(opening).rejects.toThrow(DatabaseUnavailable);
    await expect(opening).rejects.toThrow(`127.0.0.1:${standby.port}: it takes no writes`);
    await expect(opening).rejects.not.toThrow(new URL(primary.url).password);
  });

  it('is not ready while the only host is a standby', async () => {
    const database = await Database.open({
      url: standby.url,
      poolMax: 1,
      applicationName: 'test',
      onError: () => undefined,
    });
    opened.push(database);
    const { database: check } = readinessOf(database, { driftMs: 0 });
    await expect(check()).rejects.toThrow('the database takes no writes');
    await expect(readinessOf(await open(primary.port), { driftMs: 0 }).database()).resolves.toBeUndefined();
  });

  it(
    'leads to the standby once it was promoted',
    async () => {
      const database = await open(primary.port, standby.port);
      await database.query('CREATE TABLE kept (n int)');
      await primary.stop();
      await expect(database.query('INSERT INTO kept VALUES (1)')).rejects.toThrow(DatabaseUnavailable);
      await promote(standby);
      await until('a write succeeds', FAILOVER_MS, () =>
        database.query('INSERT INTO kept VALUES (2)').then(
          () => true,
          () => false,
        ),
      );
      expect(await portOf(database)).toBe(standby.port);
      expect(await database.query('SELECT n FROM kept')).toEqual([{ n: 2 }]);
    },
    2 * FAILOVER_MS,
  );
});

describe('a database URL with two hosts that both take writes', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-hosts-'));
  let replaced: PostgresServer;
  let promoted: PostgresServer;
  const opened: Database[] = [];

  beforeAll(async () => {
    ({ primary: replaced, standby: promoted } = await startPair(folder));
    await promote(promoted);
  }, 60_000);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
  });
  afterAll(async () => {
    await promoted.stop();
    await replaced.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function openBoth([first, second]: readonly [PostgresServer, PostgresServer]): Promise<Database> {
    const { username, password } = new URL(replaced.url);
    const hosts = `127.0.0.1:${first.port},127.0.0.1:${second.port}`;
    const url = `postgres://${username}:${password}@${hosts}/postgres?target_session_attrs=read-write`;
    const database = await Database.open({ url, poolMax: 1, applicationName: 'test', onError: () => undefined });
    opened.push(database);
    return database;
  }

  it('leads to the one that was promoted last', async () => {
    for (let round = 0; round < 10; round += 1) {
      for (const order of [
        [replaced, promoted],
        [promoted, replaced],
      ] as const) {
        const database = await openBoth(order);
        expect(await database.query(PORT)).toEqual([{ port: promoted.port }]);
      }
    }
  });

  it('does not lead back to the one that was replaced', async () => {
    const database = await openBoth([replaced, promoted]);
    expect(await database.query(PORT)).toEqual([{ port: promoted.port }]);
    await promoted.stop();
    let last: unknown = null;
    await until('no host takes writes', FAILOVER_MS, async () => {
      last = await database.query(PORT).catch((error: unknown) => error);
      return last instanceof DatabaseUnavailable && last.message.includes('no host of the database');
    });
    expect(String(last)).toContain(
      `127.0.0.1:${replaced.port}: it was replaced: its timeline is 1, and 2 was found before`,
    );
  });
});
