import type { ConnectionStatus } from '@countersign/carriers/status';
import { MessageLog } from '@countersign/carriers/messages';
import type { Uuid } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Carrier } from '../support/carrier.js';
import { OutboundHarness } from '../support/outbound-harness.js';
import { until } from '../support/until.js';

/** Covers a response timeout of 1 s, the renewal of a lease every 5 s, and load. */
const WITHIN_MS = 20_000;
const THROTTLED = { command_status: 0x58 };

const north = new Carrier('north');
const south = new Carrier('south');
let harness: OutboundHarness;

beforeAll(async () => {
  harness = await OutboundHarness.open([
    { carrier: north, bind: { enquireLinkSeconds: 30 } },
    { carrier: south, route: { priority: 1 } },
  ]);
}, 40_000);
afterEach(() => {
  north.script.length = 0;
});
afterAll(async () => {
  await harness.close();
  await Promise.all([north, south].map((carrier) => carrier.close()));
});

const queue = async (): Promise<Uuid> => harness.queueCode(await harness.gateway.create({ ttlSeconds: 300 }));
const attemptsOf = async (id: Uuid) =>
  (await new MessageLog().find(harness.gateway.harness.database, id))?.attemptLog ?? [];

async function statusOf(name: string): Promise<Partial<ConnectionStatus>> {
  const [row] = await harness.gateway.harness.database.query<{ status: Partial<ConnectionStatus> | null }>(
    `SELECT status FROM bind_connections JOIN binds ON binds.id = bind_id WHERE name = $1`,
    [name],
  );
  return row?.status ?? {};
}

describe('the attempts of a code', () => {
  it('name the bind that had each, what it answered and when', async () => {
    north.script.push(() => THROTTLED);
    const id = await queue();
    await harness.waitForState(id, 'submitted');
    const attempts = await attemptsOf(id);
    expect(attempts.map(({ linkName, outcome, commandStatus }) => [linkName, outcome, commandStatus])).toEqual([
      ['north', 'throttled', 'ESME_RTHROTTLED'],
      ['south', 'submitted', 'ESME_ROK'],
    ]);
    expect(attempts[1]?.smscMessageId).toBe((await harness.code(id)).smscMessageId);
    for (const { startedAt, submittedAt, answeredAt } of attempts) {
      expect(submittedAt?.getTime()).toBeGreaterThanOrEqual(startedAt.getTime() - 1_000);
      expect(answeredAt?.getTime()).toBeGreaterThanOrEqual(submittedAt?.getTime() ?? Infinity);
    }
    expect(new Set(attempts.map(({ gatewayId }) => gatewayId)).size).toBe(1);
  });
});

describe('a code without a response', () => {
  it('is an attempt without an answer, is counted on its connection, and logged', async () => {
    north.script.push(() => 'mute');
    const id = await queue();
    await harness.waitForState(id, 'submitted');
    expect((await attemptsOf(id))[0]).toMatchObject({
      linkName: 'north',
      outcome: 'unanswered',
      error: 'NO_ANSWER',
      commandStatus: null,
      submittedAt: expect.any(Date) as Date,
      answeredAt: null,
    });
    await until('the connection shows it', WITHIN_MS, async () => (await statusOf('north')).unanswered === 1);
    const lines = harness.gateway.log.filter((line) => line.includes('codes got no response from the carrier'));
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ bind: 'north', unanswered: 1 }]);
  });
});

describe('the last error of a connection', () => {
  it('has its time, and is the previous one once the connection is bound again', async () => {
    const before = harness.gateway.harness.clock.nowMs();
    north.drop();
    await until('it is bound again', WITHIN_MS, async () => {
      const { state, previousError } = await statusOf('north');
      return state === 'bound' && previousError !== null && previousError !== undefined;
    });
    const { lastError, lastErrorAt, previousError, unanswered } = await statusOf('north');
    expect([lastError, lastErrorAt, unanswered]).toEqual([null, null, 0]);
    const [at, clearedAt] = [previousError?.at ?? '', previousError?.clearedAt ?? ''].map((time) => Date.parse(time));
    expect(at).toBeGreaterThanOrEqual(Math.floor(before));
    expect(clearedAt).toBeGreaterThanOrEqual(at ?? Infinity);
    expect(harness.gateway.log.join()).toContain('binds: the carrier accepted the bind');
    expect(harness.gateway.log.join()).toContain('binds: the connection failed; trying again');
  });
});

describe('a refused bind of a system', () => {
  it('is written with its system: reason, address, time and count', async () => {
    const { gateway } = harness;
    const { id } = await gateway.system({ systemId: 'refused' });
    await gateway.bindFrom('127.0.31.1', 'refused', 'wrong');
    await gateway.bindFrom('127.0.31.2', 'nobody', 'wrong');
    await gateway.bindFrom('127.0.31.3', 'refused', 'wrong');
    const read = () =>
      gateway.harness.database.query<{ refusals: number }>(
        `SELECT system_id AS id, refusals::int, last_reason AS reason, last_address AS address FROM system_refusals`,
      );
    await until('both are written', WITHIN_MS, async () => (await read())[0]?.refusals === 2);
    expect(await read()).toEqual([{ id, refusals: 2, reason: 'wrong_password', address: '127.0.31.3' }]);
  });
});
