import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Uuid } from '@countersign/ids';
import type { Esme } from '../support/esme.js';
import { GatewayHarness, sms } from '../support/gateway-harness.js';
import { until } from '../support/until.js';

const OK = 0;
const BIND_FAILED = 0x0d;
const WRONG_PASSWORD = 0x0e;
const THROTTLED = 0x58;

let gateway: GatewayHarness;

beforeAll(async () => {
  gateway = await GatewayHarness.open();
});
afterAll(() => gateway.close());

const bindFrom: GatewayHarness['bindFrom'] = (...call) => gateway.bindFrom(...call);

const query = (statement: string, values: readonly unknown[] = []): Promise<{ readonly count: number }[]> =>
  gateway.harness.database.query(statement, values);

describe('a peer outside the networks of every system', () => {
  it('is closed before any octet is read, and admitted once a system allows its address', async () => {
    expect(await bindFrom('127.0.0.1', 'near')).toBeNull();
    await gateway.system({ systemId: 'near', allowedCidrs: ['127.0.0.2/32'] });
    expect(await bindFrom('127.0.0.1', 'near')).toBeNull();
    expect(await bindFrom('127.0.0.2', 'near')).toBe(OK);
    await gateway.system({ systemId: 'next', allowedCidrs: ['127.0.0.0/30', '192.0.2.0/24'] });
    expect(await bindFrom('127.0.0.1', 'next')).toBe(OK);
    // An address in the network of one system is not in that of another.
    expect(await bindFrom('127.0.0.1', 'near')).toBe(BIND_FAILED);
    expect(await gateway.metric('countersign_smpp_connections_rejected_total{reason="network"')).toBe(2);
    expect(await gateway.metric('countersign_smpp_pdus_total{side="listener",direction="in",command="bind_tr')).toBe(3);
  });

  it('is closed again within 2 s after its system is disabled', async () => {
    const { id } = await gateway.system({ systemId: 'short', allowedCidrs: ['127.0.0.9/32'] });
    expect(await bindFrom('127.0.0.9', 'short')).toBe(OK);
    await query('UPDATE smpp_systems SET enabled = false WHERE id = $1', [id]);
    await until('the address is in no network', 2_000, async () => (await bindFrom('127.0.0.9', 'short')) === null);
  });
});

describe('a peer with failed binds', () => {
  it('gets growing delays, then a lockout until a password is set; other peers are not affected', async () => {
    const { id } = await gateway.system({ systemId: 'guessed' });
    const guesses = Array.from({ length: 5 }, () => bindFrom('127.0.0.66', 'guessed', 'wrong'));
    const startedMs = performance.now();
    const first = await Promise.race(guesses);
    expect([first, performance.now() - startedMs >= 1_000]).toEqual([WRONG_PASSWORD, true]);
    // The right password is refused too, over a new or an existing connection.
    expect(await bindFrom('127.0.0.66', 'guessed')).toBeNull();
    expect(await gateway.metric('countersign_smpp_connections_rejected_total{reason="shut_out"')).toBe(1);
    expect(await bindFrom('127.0.0.67', 'guessed')).toBe(OK);
    expect(await Promise.all(guesses)).toEqual(guesses.map(() => WRONG_PASSWORD));
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(7_000);
    await query(`UPDATE smpp_systems SET password_digest = sha256(password_digest) WHERE id = $1`, [id]);
    await until(
      'the lockout has ended',
      3_000,
      async () => (await bindFrom('127.0.0.66', 'guessed')) === WRONG_PASSWORD,
    );
  }, 30_000);

  it('is not locked out by refusals after a right password', async () => {
    await gateway.system({ systemId: 'picky', bindTypes: ['receiver'] });
    const answers = await Promise.all(Array.from({ length: 6 }, () => bindFrom('127.0.0.68', 'picky')));
    expect(answers).toEqual(answers.map(() => BIND_FAILED));
    expect(await bindFrom('127.0.0.68', 'guessed', 'wrong')).not.toBeNull();
  });
});

describe('a system with a rate', () => {
  async function statuses(esmes: readonly Esme[], count: number): Promise<Map<number, number>> {
    const each = Array.from({ length: count / esmes.length }, () => esmes).flat();
    const counts = new Map<number, number>();
    for (const { command_status } of await Promise.all(each.map((esme) => esme.send('submit_sm', sms('hello'))))) {
      counts.set(command_status, (counts.get(command_status) ?? 0) + 1);
    }
    return counts;
  }

  it('is throttled above it over all its connections, and a change takes effect within 2 s', async () => {
    const { id } = await gateway.system({ systemId: 'fast', submitPerSecond: 20 });
    const esmes = [await gateway.esme('fast'), await gateway.esme('fast')];
    const startedMs = performance.now();
    const counts = await statuses(esmes, 100);
    const maxAccepted = 20 + Math.ceil(((performance.now() - startedMs) / 1_000) * 20);
    expect(counts.get(OK)).toBeGreaterThanOrEqual(20);
    expect(counts.get(OK)).toBeLessThanOrEqual(maxAccepted);
    expect((counts.get(OK) ?? 0) + (counts.get(THROTTLED) ?? 0)).toBe(100);
    expect(await gateway.metric('countersign_mo_retryable_responses_total{reason="throttled"')).toBe(
      counts.get(THROTTLED),
    );
    await query('UPDATE smpp_systems SET submit_per_second = NULL WHERE id = $1', [id]);
    await until('there is no limit', 2_000, async () => (await statuses(esmes, 60)).get(OK) === 60);
  });
});

describe('the connections of a system', () => {
  interface Row {
    readonly address: string;
    readonly bindType: string;
    readonly since: Date;
    readonly gateways: number;
    readonly status: Record<string, unknown>;
  }
  const rowsOf = (systemId: Uuid): Promise<Row[]> =>
    gateway.harness.database.query<Row>(
      `SELECT c.address, c.bind_type AS "bindType", c.since, c.status,
         (SELECT count(*)::int FROM gateways g WHERE g.id = c.gateway_id) AS gateways
       FROM system_connections c WHERE system_id = $1 ORDER BY c.id`,
      [systemId],
    );

  it('have rows with their status while they are open', async () => {
    const { id } = await gateway.system({ systemId: 'seen', submitPerSecond: 1 });
    const esme = await gateway.esme('seen', { bind: 'bind_transmitter' });
    await until('there is a row', 2_000, async () => (await rowsOf(id)).length === 1);
    await Promise.all([1, 2, 3].map(() => esme.send('submit_sm', sms('hello'))));
    await until(
      'the row shows the throttled messages',
      6_000,
      async () => (await rowsOf(id))[0]?.status['throttled'] === 2,
    );
    const [row] = await rowsOf(id);
    expect(row).toMatchObject({ bindType: 'transmitter', gateways: 1 });
    expect(row?.address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(row?.since.getTime()).toBeLessThanOrEqual(gateway.harness.clock.nowMs());
    expect(row?.status).toEqual({
      state: 'bound',
      tls: false,
      windowUsed: 0,
      submitPerSecond: expect.any(Number) as number,
      throttled: 2,
      enquireLinkMs: null,
      lastError: null,
      lastErrorAt: null,
      unanswered: 0,
    });
    esme.destroy();
    await until('the row is deleted', 2_000, async () => (await rowsOf(id)).length === 0);
  });

  it('are closed when the system is deleted', async () => {
    const { id } = await gateway.system({ systemId: 'deleted' });
    const esme = await gateway.esme('deleted');
    await until('there is a row', 2_000, async () => (await rowsOf(id)).length === 1);
    await query('DELETE FROM smpp_systems WHERE id = $1', [id]);
    await esme.closed;
    expect(await rowsOf(id)).toEqual([]);
  });
});

describe('a system that is connected to several gateways', () => {
  const elsewhere: Uuid = '018f0000-0000-7000-8000-000000000001';
  /** Nearly the latest time that counts: the gateway does not run, and must count as alive during the test. */
  const SEEN = `INSERT INTO gateways (id, host, version, started_at, seen_at)
    VALUES ($1, 'elsewhere', '0', clock_timestamp(), clock_timestamp() + interval '14 seconds')
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`;
  const connect = async (systemId: Uuid, n: number): Promise<void> => {
    await query(SEEN, [elsewhere]);
    await query(
      `INSERT INTO system_connections (id, system_id, gateway_id, address, bind_type, since, status)
       SELECT gen_random_uuid(), $1, $2, '192.0.2.1:4000', 'transceiver', clock_timestamp(), '{}'
       FROM generate_series(1, $3)`,
      [systemId, elsewhere, n],
    );
  };

  it('is limited over all gateways, without the connections of a dead gateway', async () => {
    const { id } = await gateway.system({ systemId: 'spread', maxConnections: 3 });
    await connect(id, 2);
    const esme = await gateway.esme('spread');
    expect(await bindFrom('127.0.0.1', 'spread')).toBe(BIND_FAILED);
    await query(`UPDATE gateways SET seen_at = clock_timestamp() - interval '16 seconds' WHERE id = $1`, [elsewhere]);
    expect(await bindFrom('127.0.0.1', 'spread')).toBe(OK);
    esme.destroy();
  });

  it('has a share of its rate at each gateway', async () => {
    const { id } = await gateway.system({ systemId: 'shared', submitPerSecond: 40 });
    await connect(id, 3);
    const esme = await gateway.esme('shared');
    const startedMs = performance.now();
    const sent = Array.from({ length: 60 }, () => esme.send('submit_sm', sms('hello')));
    const answers = (await Promise.all(sent)).map(({ command_status }) => command_status);
    const accepted = answers.filter((status) => status === OK).length;
    expect(accepted).toBeGreaterThanOrEqual(10);
    expect(accepted).toBeLessThanOrEqual(10 + Math.ceil(((performance.now() - startedMs) / 1_000) * 10));
  });
});
