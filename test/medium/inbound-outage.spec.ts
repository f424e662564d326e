import net from 'node:net';
import type { PDU } from 'smpp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../config/stack/postgres.mjs';
import type { Esme } from '../support/esme.js';
import { GatewayHarness, sms } from '../support/gateway-harness.js';
import { until } from '../support/until.js';

const OK = 0;
const QUEUE_FULL = 0x14;
const THROTTLED = 0x58;
/** Time limit of a response: carriers have a response timer of at least 5 s. */
const ANSWERED_WITHIN_MS = 4_500;

let gateway: GatewayHarness;
let esme: Esme;

async function open(changes: Record<string, string> = {}): Promise<void> {
  gateway = await GatewayHarness.open(changes);
  await gateway.system({ systemId: 'north', maxConnections: 100 });
  esme = await gateway.esme('north');
}
afterEach(() => gateway.close());

async function timed(message: Promise<PDU>): Promise<{ status: number; tookMs: number }> {
  const startedMs = performance.now();
  const { command_status: status } = await message;
  return { status, tookMs: performance.now() - startedMs };
}

describe('while PostgreSQL is unreachable', () => {
  beforeEach(() => open());

  it('an MO gets the retryable status, and approves when resent', async () => {
    const session = await gateway.create();
    const message = sms(gateway.textOf(session));
    await gateway.line.cut();
    for (let times = 0; times < 3; times += 1) {
      const { status, tookMs } = await timed(esme.send('submit_sm', message));
      expect(status).toBe(QUEUE_FULL);
      expect(tookMs).toBeLessThan(ANSWERED_WITHIN_MS);
    }
    await gateway.line.mend();
    await until('the MO is stored', 10_000, async () => (await esme.send('submit_sm', message)).command_status === OK);
    expect(await gateway.statusOf(session)).toBe('approved');
    expect((await gateway.messages()).map(({ fate }) => fate)).toEqual(['matched']);
  });

  it('every MO of a flood is answered in time with the retryable status of its link', async () => {
    await gateway.system({ systemId: 'south', retryableMoStatus: THROTTLED });
    const south = await gateway.esme('south');
    gateway.line.freeze();
    const pairs = Array.from({ length: 300 }, () => [
      timed(esme.send('submit_sm', sms('hello'))),
      timed(south.send('submit_sm', sms('hello'))),
    ]);
    for (const answers of await Promise.all(pairs.map((pair) => Promise.all(pair)))) {
      expect(answers.map(({ status }) => status)).toEqual([QUEUE_FULL, THROTTLED]);
      for (const { tookMs } of answers) expect(tookMs).toBeLessThan(ANSWERED_WITHIN_MS);
    }
    expect((await esme.enquireLink()).command_status).toBe(OK);
    gateway.line.thaw();
    await until('MOs are stored again', 10_000, async () => {
      return (await esme.send('submit_sm', sms('hello'))).command_status === OK;
    });
  });

  it('the gateway is not ready, answers binds with a system error, and becomes ready again', async () => {
    await until('the gateway is ready', 5_000, async () => (await gateway.readiness()).status === 200);
    await gateway.line.cut();
    const { status, checks } = await gateway.readiness();
    expect(status).toBe(503);
    expect(checks).toMatchObject({ database: { ok: false }, clock: { ok: true }, listener: { ok: true } });
    const stranger = await gateway.connectUnbound();
    const answer = await stranger.bind({ port: gateway.ports.smpp, systemId: 'nobody', password: 'wrong' });
    expect(answer.command_status).toBe(0x08);
    await gateway.line.mend();
    await until('the gateway is ready', 10_000, async () => (await gateway.readiness()).status === 200);
  });
});

describe('while Redis is unreachable', () => {
  it.each([
    ['dead', (): Promise<net.Server | null> => Promise.resolve(null)],
    [
      'frozen',
      async (): Promise<net.Server | null> => {
        const server = net.createServer((socket) => socket.on('error', () => undefined));
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        return server;
      },
    ],
  ])('(%s) MOs are approved as quickly, and the gateway is ready', async (_, openRedis) => {
    const redis = await openRedis();
    const address = redis?.address();
    const port = typeof address === 'object' && address !== null ? address.port : await freePort();
    await open({ REDIS_URL: `redis://127.0.0.1:${port}` });
    const sessions = await Promise.all(Array.from({ length: 20 }, () => gateway.create()));
    const times: number[] = [];
    for (const session of sessions) {
      const { status, tookMs } = await timed(esme.send('submit_sm', sms(gateway.textOf(session))));
      expect(status).toBe(OK);
      times.push(tookMs);
    }
    // A busy machine may delay some, a wait for Redis delays all.
    expect(times.filter((tookMs) => tookMs < 500).length).toBeGreaterThan(sessions.length / 2);
    expect(await Promise.all(sessions.map((session) => gateway.statusOf(session)))).toEqual(
      sessions.map(() => 'approved'),
    );
    expect((await gateway.readiness()).status).toBe(200);
    redis?.close();
  });
});

describe('at the stop of the gateway', () => {
  beforeEach(() => open());

  it('every MO answered OK is stored, and every peer gets an unbind', async () => {
    const peers = [esme, ...(await Promise.all(Array.from({ length: 3 }, () => gateway.esme('north'))))];
    let unbound = 0;
    for (const peer of peers) peer.session.on('unbind', () => (unbound += 1));
    const sent = peers.flatMap((peer) =>
      Array.from({ length: 200 }, () =>
        peer.send('submit_sm', sms('hello')).then(({ command_status }) => command_status),
      ),
    );
    const outcomes = Promise.allSettled(sent);
    await until('some MOs are stored', 5_000, async () => (await gateway.messages()).length > 0);
    await gateway.stop();
    const ok = (await outcomes).filter((each) => each.status === 'fulfilled' && each.value === OK);
    expect(ok.length).toBeGreaterThan(0);
    expect((await gateway.messages()).length).toBeGreaterThanOrEqual(ok.length);
    expect(unbound).toBe(peers.length);
    await expect(gateway.connectUnbound()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('the steps run in order', async () => {
    await gateway.stop();
    const lines = gateway.log.map((line) => JSON.parse(line) as { msg: string; step?: string });
    const steps = lines.filter(({ msg }) => msg === 'stop step done').map(({ step }) => step);
    expect(steps).toEqual([
      'stop accepting',
      'stop sending',
      'stop reconnecting',
      'answer received messages, unbind',
      'drain the batchers',
      'remove the gateway row',
      'stop maintenance',
      'close the job notifier and the bus',
      'close the database',
      'close operations',
    ]);
  });
});
