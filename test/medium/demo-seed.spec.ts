import { AccountDirectory } from '@countersign/accounts/accounts';
import { bindPassword, CarrierDirectory, systemPasswordMatches } from '@countersign/carriers/config';
import { RouteDirectory, routesInOrder } from '@countersign/carriers/routes';
import { createApiKey, ServerKeys } from '@countersign/keys';
import { newId, renderId } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DemoSeed, type SeededDemo } from '../../apps/control-plane/src/demo/demo-account.js';
import type { SeedRequest } from '../../apps/control-plane/src/demo/seed-request.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';

let testDatabase: TestDatabase;
let database: Database;
const keys = ServerKeys.fromMaster(Buffer.alloc(32, 1));
const empty: SeedRequest = { apiKey: null, testApiKey: null, smppPassword: null, simulator: null };
const simulator = { host: '127.0.0.1', port: 2776, systemId: 'countersign', password: 'secret08' };

beforeAll(async () => {
  testDatabase = await freshDatabase();
  database = await Database.open({
    url: testDatabase.url,
    poolMax: 2,
    applicationName: 'medium',
    onError: () => undefined,
  });
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

const seed = (request: SeedRequest, master = keys): Promise<SeededDemo> => {
  const demo = new DemoSeed({ keys: master, newId: () => newId(Date.now()), entropyKeyVersion: 1 });
  return database.transaction((tx) => demo.run(tx, request));
};
const snapshot = (): Promise<{ row: string }[]> =>
  database.query(
    `SELECT row FROM (SELECT a::text AS row FROM accounts a UNION ALL SELECT b::text FROM brands b
     UNION ALL SELECT k::text FROM api_keys k UNION ALL SELECT n::text FROM inbound_numbers n
     UNION ALL SELECT s::text FROM smpp_systems s UNION ALL SELECT b::text FROM binds b UNION ALL SELECT r::text FROM routes r) AS rows ORDER BY row`,
  );

describe('the demo account', () => {
  it('is created once; a second run with the same secrets writes nothing but a link of the console', async () => {
    const first = await seed({ ...empty, simulator });
    const before = await snapshot();
    const { apiKey, testApiKey, smpp } = first;
    const second = await seed({ apiKey, testApiKey, smppPassword: smpp.password, simulator });
    // The link of the console is for one use: each start has another.
    expect(second).toEqual({ ...first, consolePath: second.consolePath });
    expect(second.consolePath).not.toBe(first.consolePath);
    expect(await snapshot()).toEqual(before);
    expect(before).toHaveLength(8);
  });

  it('has a key, a number, a trusted system and a trusted bind that work', async () => {
    const demo = await seed({ ...empty, simulator });
    const principal = await new AccountDirectory(database, keys).authenticate(demo.apiKey);
    expect(principal?.kind).toBe('live');
    expect(renderId('acct', principal?.tenant.accountId ?? '')).toBe(demo.accountId);
    const carriers = new CarrierDirectory(database);
    expect(await carriers.inboundNumberFor('US')).toBe(demo.inboundNumber);
    const system = await carriers.system(demo.smpp.systemId);
    expect(system).toMatchObject({
      trustedForMo: true,
      allowedCidrs: ['127.0.0.0/16', '::1/128'],
      senderFormat: 'auto',
    });
    expect(systemPasswordMatches(keys, system, demo.smpp.password)).toBe(true);
    const [bind] = await carriers.listBinds();
    expect(bind).toMatchObject({
      hosts: [{ host: '127.0.0.1', port: 2776 }],
      systemId: 'countersign',
      trustedForMo: true,
      senderFormat: 'international',
    });
    if (bind !== undefined) expect(bindPassword(keys, bind)).toBe('secret08');
  });

  it('has a bind with international senders, also if an earlier release created it without a format', async () => {
    const format = async (): Promise<unknown> => (await new CarrierDirectory(database).listBinds())[0]?.senderFormat;
    for (const [was, is] of [
      ['auto', 'international'],
      ['national', 'national'],
    ]) {
      await seed({ ...empty, simulator });
      await database.query('UPDATE binds SET sender_format = $1', [was]);
      await seed({ ...empty, simulator });
      expect(await format()).toBe(is);
    }
  });

  it('may send codes to every country, with a route to the simulator for every number', async () => {
    const demo = await seed({ ...empty, simulator });
    const directory = new AccountDirectory(database, keys);
    const live = await directory.authenticate(demo.apiKey);
    expect(await directory.account(live?.tenant.accountId ?? '')).toMatchObject({
      otpCountries: ['*'],
      otpDailyMessageCap: 1_000_000,
      otpUnconvertedFloor: 100_000,
    });
    const [bind] = await new CarrierDirectory(database).listBinds();
    const [route] = routesInOrder(await new RouteDirectory(database).usableRoutes(), '+14155552671', () => 0);
    expect(route).toMatchObject({ prefix: '+', bindId: bind?.id, sourceAddress: null });
  });

  it('has the agent of the simulator and a logo URL, unless an operator has set others', async () => {
    const brand = async (): Promise<unknown> =>
      (await database.query('SELECT rcs_agent_id AS agent, logo_url AS logo FROM brands'))[0];
    await seed({ ...empty, simulator });
    expect(await brand()).toEqual({ agent: 'countersign_demo', logo: 'https://acme.example/logo.png' });
    await database.query(`UPDATE brands SET rcs_agent_id = 'mine', logo_url = NULL`);
    await seed({ ...empty, simulator });
    expect(await brand()).toEqual({ agent: 'mine', logo: 'https://acme.example/logo.png' });
  });

  it('has a live key and a test key, both with a thousand times the default limits', async () => {
    const demo = await seed({ ...empty, simulator });
    const directory = new AccountDirectory(database, keys);
    const [live, test] = await Promise.all([demo.apiKey, demo.testApiKey].map((key) => directory.authenticate(key)));
    expect(test).toMatchObject({ kind: 'test', tenant: { accountId: live?.tenant.accountId, mode: 'test' } });
    for (const principal of [live, test]) expect(principal?.limits.default).toBe(600_000);
  });

  it('gets a new key if this database does not have the given one', async () => {
    const [lost, lostTest] = [createApiKey('live'), createApiKey('test')];
    const { apiKey, testApiKey } = await seed({ ...empty, apiKey: lost, testApiKey: lostTest });
    expect(apiKey).not.toBe(lost);
    expect(testApiKey).not.toBe(lostTest);
    expect((await seed({ ...empty, apiKey })).apiKey).toBe(apiKey);
  });

  it('takes over another port of the simulator, and the password of the launcher', async () => {
    const { smpp } = await seed({ ...empty, smppPassword: 'kept 1st', simulator: { ...simulator, port: 3333 } });
    expect(smpp.password).toBe('kept 1st');
    const binds = await new CarrierDirectory(database).listBinds();
    expect(binds.map(({ hosts }) => hosts)).toEqual([[{ host: '127.0.0.1', port: 3333 }]]);
  });

  it.each(['z', 'secret08', 'aaaaaaaa'])('has a generated password in place of the weak password %j', async (weak) => {
    const { smpp } = await seed({ ...empty, smppPassword: weak });
    expect(smpp.password).not.toBe(weak);
    expect(smpp.password).toMatch(/^[A-Za-z0-9]{8}$/);
    expect((await seed({ ...empty, smppPassword: smpp.password })).smpp.password).toBe(smpp.password);
  });

  it('has a system restricted to loopback, also if an earlier release allowed all networks; other networks stay', async () => {
    const { smpp } = await seed(empty);
    for (const [was, is] of [
      [[], ['127.0.0.0/16', '::1/128']],
      [['192.0.2.0/24'], ['192.0.2.0/24']],
    ]) {
      await database.query('UPDATE smpp_systems SET allowed_cidrs = $1', [was]);
      expect((await seed({ ...empty, smppPassword: smpp.password })).smpp).toEqual(smpp);
      expect((await new CarrierDirectory(database).system(smpp.systemId))?.allowedCidrs).toEqual(is);
    }
  });

  it('fails with an instruction if it was created with another master key', async () => {
    const other = ServerKeys.fromMaster(Buffer.alloc(32, 2));
    await expect(seed(empty, other)).rejects.toThrow('COUNTERSIGN_MASTER_KEY');
  });
});
