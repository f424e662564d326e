import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openPubSub, TOPICS, type PubSub } from '@countersign/bus';
import { CarrierDirectory } from '@countersign/carriers/config';
import { BindLeaseStore, GatewayStore } from '@countersign/carriers/leases';
import { parseId, renderId, type Uuid } from '@countersign/ids';
import { ControlPlaneSettings, GatewaySettings, loadSettings } from '@countersign/settings';
import { encodePdu } from '@countersign/smpp/codec';
import { deliverSm, submitSm, type Pdu } from '@countersign/smpp/pdu';
import { createLogger } from '@countersign/telemetry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../apps/gateway/src/gateway.js';
import { FlightRecorder } from '../../apps/gateway/src/recorder/flight-recorder.js';
import { TraceResponder } from '../../apps/gateway/src/recorder/trace-responder.js';
import { freePort } from '../../config/stack/postgres.mjs';
import { AdminCalls } from '../support/admin-calls.js';
import { Carrier } from '../support/carrier.js';
import { type Answer, ControlPlaneHarness } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

const PORT = 12_775;
const TEXT = '123456 is your Acme code';
const PASSWORD = 'hunter2';
const PHONE = '14155552671';
const gateways = new GatewayStore();
const leases = new BindLeaseStore();

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let bus: PubSub;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  bus = openPubSub(loadSettings(ControlPlaneSettings, harness.environment), () => undefined);
  await until('the bus carries', 10_000, async () => {
    const topic = `test:${harness.clock.newId()}`;
    await bus.answer(topic, () => 'yes').ready;
    return (await bus.ask(topic, 'there?', 500)) !== null;
  });
});
afterAll(async () => {
  await bus.close();
  await harness.close();
});

let made = 0;
async function newBind(): Promise<{ readonly id: string; readonly uuid: Uuid }> {
  const body = {
    name: `bind ${++made}`,
    hosts: [{ host: '127.0.0.1', port: PORT }],
    systemId: 'us',
    password: PASSWORD,
  };
  const id = String((await admin.post('binds', { ...body, connections: 2 })).json['id']);
  return { id, uuid: parseId('bind', id) ?? '' };
}

interface Gateway {
  readonly id: Uuid;
  readonly recorder: FlightRecorder;
  /** Records a PDU of a connection. */
  recordPdu(slot: number, direction: 'in' | 'out', pdu: Pdu): void;
  /** Stops answering, and keeps its connections. */
  stopAnswering(): void;
  /** Ends without removing its rows. */
  stop(): Promise<void>;
}

/**
 * A running gateway that holds these connections of the bind, if they are free; `deaf` gateways do not answer requests.
 */
async function newGateway(bindId: Uuid, slots: readonly number[], deaf = false): Promise<Gateway> {
  const id = harness.clock.newId();
  const recorder = new FlightRecorder(harness.clock);
  await gateways.recordHeartbeat(harness.database, { id, host: 'gateway-1', version: '1' }, false);
  await leases.survey(harness.database);
  const claimed = slots.map((slot) => ({ bindId, slot }));
  expect(await leases.claimSlots(harness.database, id, claimed)).toHaveLength(slots.length);
  const service = deaf ? null : new TraceResponder(id, recorder, bus, harness.keys);
  await service?.ready;
  const directory = new CarrierDirectory(harness.database);
  const bind = (await directory.listBinds()).find((each) => each.id === bindId);
  const taps = new Map<number, ReturnType<FlightRecorder['tap']>>();
  return {
    id,
    recorder,
    recordPdu: (slot, direction, pdu) => {
      const tap =
        taps.get(slot) ??
        recorder.tap({
          bindId,
          slot,
          ends: { local: { address: '127.0.0.1', port: 40_000 + slot }, remote: { address: '127.0.0.1', port: PORT } },
          fullUntil: () => bind?.fullTraceUntil ?? null,
        });
      taps.set(slot, tap);
      tap(direction, encodePdu(pdu));
    },
    stopAnswering: () => service?.close(),
    stop: async () => {
      service?.close();
      await harness.database.query(`UPDATE bind_connections SET owner = NULL, expires_at = NULL WHERE owner = $1`, [
        id,
      ]);
      await gateways.deleteGateway(harness.database, id);
    },
  };
}

const bindPdu = (sequence: number): Pdu => ({
  command: 'bind_transceiver',
  status: 0,
  sequence,
  fields: {
    systemId: 'us',
    password: PASSWORD,
    systemType: '',
    interfaceVersion: 0x34,
    addressTon: 0,
    addressNpi: 0,
    addressRange: '',
  },
  tlvs: [],
});
const submit = (sequence: number): Pdu => ({ ...submitSm({ shortMessage: Buffer.from(TEXT) }), sequence });
const deliver = (sequence: number): Pdu => ({ ...deliverSm({ shortMessage: Buffer.from(TEXT) }), sequence });

const trace = (id: string, format?: string): Promise<Answer> =>
  admin.get(`binds/${id}/trace${format === undefined ? '' : `?format=${format}`}`);

describe('GET /v1/admin/binds/{id}/trace', () => {
  it('crosses the bus encrypted; a request without the master key is not answered', async () => {
    const bind = await newBind();
    const gateway = await newGateway(bind.uuid, [0]);
    gateway.recordPdu(0, 'in', deliver(1));
    const topic: string = TOPICS.trace(gateway.id);
    expect(await bus.ask(topic, { bindId: bind.uuid, format: 'json' }, 500)).toBeNull();
    const received: Buffer[] = [];
    const listen = async (to: string): Promise<void> => bus.subscribe(to, ({ octets }) => received.push(octets)).ready;
    await listen(topic);
    expect((await trace(bind.id)).status).toBe(200);
    // The head of a request names the topic of its answers.
    const [, replyTo = ''] = /"replyTo":"([^"]+)"/.exec(String(received[0])) ?? [];
    await listen(replyTo);
    expect((await trace(bind.id)).text).toContain('deliver_sm');
    // The answer reaches this subscription on its own way, maybe later than the control plane.
    await until('the answer arrived here', 5_000, () => received.length >= 3);
    for (const octets of received) expect(octets.toString('latin1')).not.toMatch(/deliver_sm|bindId|json/);
    await gateway.stop();
  });

  it('is 503 when the answer to an earlier question is replayed', async () => {
    const bind = await newBind();
    const gateway = await newGateway(bind.uuid, [0]);
    gateway.recordPdu(0, 'in', deliver(1));
    const topic: string = TOPICS.trace(gateway.id);
    const received: Buffer[] = [];
    const listen = async (to: string): Promise<void> => bus.subscribe(to, ({ octets }) => received.push(octets)).ready;
    await listen(topic);
    expect((await trace(bind.id)).status).toBe(200);
    const [, replyTo = ''] = /"replyTo":"([^"]+)"/.exec(String(received[0])) ?? [];
    await listen(replyTo);
    expect((await trace(bind.id)).status).toBe(200);
    const isAnswer = (octets: Buffer): boolean => String(octets).includes('"replyTo":""');
    await until('the answer has arrived', 10_000, () => received.some(isAnswer));
    const answer = received.find(isAnswer) ?? Buffer.alloc(0);
    const payload = answer.subarray(answer.indexOf('\n') + 1);
    gateway.stopAnswering();
    let replayed = 0;
    const replay = bus.answer(topic, () => ((replayed += 1), payload));
    await replay.ready;
    expect([(await trace(bind.id)).code, replayed]).toEqual(['SERVICE_UNAVAILABLE', 1]);
    replay.close();
    await gateway.stop();
  });

  it('shows the last PDUs of every connection of the bind, whichever gateway holds it, and of no other bind', async () => {
    const [bind, other] = [await newBind(), await newBind()];
    const [one, two] = [await newGateway(bind.uuid, [0]), await newGateway(bind.uuid, [1])];
    one.recordPdu(0, 'out', bindPdu(1));
    one.recordPdu(0, 'out', submit(2));
    two.recordPdu(1, 'in', deliver(3));
    const answer = await trace(bind.id);
    expect(answer.status).toBe(200);
    const connections = answer.json['connections'] as {
      gateway: string;
      slot: number;
      pdus: Record<string, unknown>[];
    }[];
    const shown = connections.map(({ gateway, slot, pdus }) => [
      gateway,
      slot,
      pdus.map(({ direction, command, sequence }) => [direction, command, sequence]),
    ]);
    expect(shown.sort()).toEqual(
      [
        [
          renderId('gw', one.id),
          0,
          [
            ['out', 'bind_transceiver', 1],
            ['out', 'submit_sm', 2],
          ],
        ],
        [renderId('gw', two.id), 1, [['in', 'deliver_sm', 3]]],
      ].sort(),
    );
    expect(answer.json).toMatchObject({ bindId: bind.id, fullTraceUntil: null });
    expect((await trace(other.id)).json).toEqual({ bindId: other.id, fullTraceUntil: null, connections: [] });
    await Promise.all([one.stop(), two.stop()]);
  });

  it('shows neither passwords nor texts', async () => {
    const bind = await newBind();
    const gateway = await newGateway(bind.uuid, [0]);
    gateway.recordPdu(0, 'out', bindPdu(1));
    gateway.recordPdu(0, 'out', submit(2));
    for (const format of ['json', 'pcap']) {
      const { octets, text } = await trace(bind.id, format);
      for (const secret of [PASSWORD, TEXT]) {
        expect(octets.includes(secret)).toBe(false);
        expect(text).not.toContain(Buffer.from(secret).toString('hex'));
      }
    }
    await gateway.stop();
  });

  it('is a capture file when asked for one, in which tshark finds every PDU and nothing malformed', async ({
    skip,
  }) => {
    const bind = await newBind();
    const [one, two] = [await newGateway(bind.uuid, [0]), await newGateway(bind.uuid, [1])];
    one.recordPdu(0, 'out', bindPdu(1));
    for (let n = 2; n < 40; n++) (n % 3 === 0 ? one : two).recordPdu(n % 3 === 0 ? 0 : 1, 'out', submit(n));
    const answer = await trace(bind.id, 'pcap');
    expect([answer.status, answer.headers['content-type'], answer.headers['content-disposition']]).toEqual([
      200,
      'application/vnd.tcpdump.pcap',
      `attachment; filename="${bind.id}.pcap"`,
    ]);
    await Promise.all([one.stop(), two.stop()]);
    if (spawnSync('tshark', ['--version']).status !== 0) skip('there is no tshark');
    expect(dissected(answer.octets, 'smpp')).toHaveLength(39);
    expect(dissected(answer.octets, '_ws.malformed || tcp.analysis.flags')).toEqual([]);
  });

  it('also includes a gateway that held a connection before, and does not wait for one that does not answer', async () => {
    const bind = await newBind();
    const [before, deaf] = [await newGateway(bind.uuid, []), await newGateway(bind.uuid, [], true)];
    before.recordPdu(0, 'in', deliver(1));
    expect((await trace(bind.id)).json['connections']).toMatchObject([{ gateway: renderId('gw', before.id), slot: 0 }]);
    await Promise.all([before.stop(), deaf.stop()]);
  });

  it('is 503 within 5 s when a gateway that holds a connection does not answer', async () => {
    const bind = await newBind();
    const [well, deaf] = [await newGateway(bind.uuid, [0]), await newGateway(bind.uuid, [1], true)];
    for (const answer of await Promise.all(['json', 'pcap'].map((format) => trace(bind.id, format)))) {
      expect([answer.status, answer.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    }
    await Promise.all([well.stop(), deaf.stop()]);
  });

  it('is 503 when no gateway is there', async () => {
    const bind = await newBind();
    expect((await trace(bind.id)).code).toBe('SERVICE_UNAVAILABLE');
  });

  it.each(['bind_00000000000000000000000000', 'nonsense', 'sess_00000000000000000000000000'])(
    'is not found for %s',
    async (id) => {
      for (const answer of [await trace(id), await admin.post(`binds/${id}/trace`, { seconds: 1 })]) {
        expect([answer.status, answer.code]).toEqual([404, 'NOT_FOUND']);
      }
    },
  );

  it('has these formats and no other words', async () => {
    const bind = await newBind();
    expect(await trace(bind.id, 'pdf')).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', field: 'format' });
    expect(await admin.get(`binds/${bind.id}/trace?seconds=1`)).toMatchObject({ status: 422, field: 'seconds' });
  });

  it('is for the admin key alone', async () => {
    const bind = await newBind();
    expect((await harness.call(`/v1/admin/binds/${bind.id}/trace`)).code).toBe('FORBIDDEN');
  });
});

describe('POST /v1/admin/binds/{id}/trace', () => {
  it('has texts recorded from then on, is audited, and published to gateways', async () => {
    const bind = await newBind();
    let notifications = 0;
    const subscription = bus.subscribe(TOPICS.binds, () => notifications++);
    await subscription.ready;
    const startMs = harness.clock.nowMs();
    const answer = await admin.post(`binds/${bind.id}/trace`, { seconds: 60 });
    expect(answer.status).toBe(202);
    const until60 = Date.parse(String(answer.json['fullTraceUntil']));
    expect(until60 - startMs).toBeGreaterThan(55_000);
    expect(until60 - startMs).toBeLessThan(75_000);
    await expect.poll(() => notifications).toBeGreaterThan(0);
    subscription.close();

    const gateway = await newGateway(bind.uuid, [0]);
    gateway.recordPdu(0, 'out', bindPdu(1));
    gateway.recordPdu(0, 'out', submit(2));
    const shown = await trace(bind.id, 'pcap');
    expect([shown.octets.includes(TEXT), shown.octets.includes(PASSWORD)]).toEqual([true, false]);
    expect((await trace(bind.id)).json['fullTraceUntil']).toBe(answer.json['fullTraceUntil']);
    await gateway.stop();

    const { fullTraceUntil } = answer.json;
    expect((await admin.notes(bind.id)).filter(({ action }) => action === 'trace')).toMatchObject([
      {
        actor: 'root',
        resource: 'binds',
        before: { fullTraceUntil: null },
        after: { bindId: bind.id, fullTraceUntil },
        requestId: answer.headers['x-request-id'],
      },
    ]);
  });

  it.each([[0], [3_601], [1.5], ['60'], [null], [undefined]])('refuses %s seconds', async (seconds) => {
    const bind = await newBind();
    const answer = await admin.post(`binds/${bind.id}/trace`, { seconds });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', 'seconds']);
    expect(await admin.notes(bind.id)).toHaveLength(1);
  });
});

describe('a trace that is recorded in full', () => {
  it('is shown to each role as far as it may see, and each reading of people is an entry', async () => {
    const bind = await newBind();
    await admin.post(`binds/${bind.id}/trace`, { seconds: 60 });
    const gateway = await newGateway(bind.uuid, [0]);
    const destinationAddress = { ton: 1, npi: 1, value: PHONE };
    gateway.recordPdu(0, 'out', { ...submitSm({ destinationAddress, shortMessage: Buffer.from(TEXT) }), sequence: 2 });
    const path = `binds/${bind.id}/trace`;
    const hexOf = (text: string): string => Buffer.from(text).toString('hex');
    for (const role of ['viewer', 'support', 'operator', 'owner'] as const) {
      const engineer = await admin.colleague(role, `${role} of traces`);
      const json = await engineer.get(path);
      const pcap = await engineer.get(`${path}?format=pcap`);
      const readsTexts = role === 'operator' || role === 'owner';
      expect([role, json.status, pcap.status]).toEqual([role, 200, readsTexts ? 200 : 403]);
      expect([role, json.text.includes(hexOf(TEXT))]).toEqual([role, readsTexts]);
      expect([role, pcap.octets.includes(TEXT)]).toEqual([role, readsTexts]);
      expect([role, json.text.includes(PHONE), json.text.includes(hexOf(PHONE))]).toEqual([
        role,
        role !== 'viewer',
        readsTexts,
      ]);
    }
    await gateway.stop();
    const reads = (await admin.notes(bind.id)).filter(({ action }) => action === 'read-trace');
    expect(reads.map(({ actor, after }) => [actor, after?.['format']])).toEqual([
      ['support of traces', 'json'],
      ['operator of traces', 'json'],
      ['operator of traces', 'pcap'],
      ['owner of traces', 'json'],
      ['owner of traces', 'pcap'],
    ]);
  });
});

describe('a bind that engineers made', () => {
  it('is traced through the gateway that holds it: made, bound, traced in full, and without texts before', async () => {
    const carrier = new Carrier('north');
    const port = await carrier.listen();
    const ports = {
      GATEWAY_SMPP_PORT: String(await freePort()),
      GATEWAY_HTTP_PORT: String(await freePort()),
      GATEWAY_OPS_PORT: String(await freePort()),
    };
    const settings = loadSettings(GatewaySettings, { ...harness.ofGateway, ...ports });
    const logger = createLogger({ app: 'gateway', level: 'silent' });
    const gateway = await startGateway(settings, logger, () => undefined);
    const made = await admin.post('binds', { host: '127.0.0.1', port, systemId: 'us', password: PASSWORD });
    const id = String(made.json['id']);
    await until('the bind is bound', 10_000, () => carrier.isBound);
    const mo = { source_addr: '14155552671', destination_addr: '14155550100', short_message: Buffer.from(TEXT) };
    await carrier.deliver(mo);
    const redacted = await trace(id, 'pcap');
    expect([redacted.status, redacted.octets.includes(TEXT), redacted.octets.includes(PASSWORD)]).toEqual([
      200,
      false,
      false,
    ]);
    await admin.post(`binds/${id}/trace`, { seconds: 60 });
    await until('a text is recorded', 10_000, async () => {
      await carrier.deliver(mo);
      return (await trace(id, 'pcap')).octets.includes(TEXT);
    });
    const [connection] = (await trace(id)).json['connections'] as { gateway: string; slot: number }[];
    const gateways = (await admin.get('gateways')).json['data'] as { id: string }[];
    expect(gateways.map((each) => each.id)).toContain(connection?.gateway);
    await gateway.run('the test is over');
    await carrier.close();
  });
});

/** The numbers of the packets that match the filter. */
function dissected(file: Buffer, filter: string): string[] {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-trace-'));
  try {
    const name = path.join(folder, 'trace.pcap');
    writeFileSync(name, file);
    const asked = [
      '-r',
      name,
      '-n',
      '-d',
      `tcp.port==${PORT},smpp`,
      '-Y',
      filter,
      '-T',
      'fields',
      '-e',
      'frame.number',
    ];
    const { stdout, stderr, status } = spawnSync('tshark', asked, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return stdout.split('\n').filter((line) => line !== '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
