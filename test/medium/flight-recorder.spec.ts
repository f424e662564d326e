import { openPubSub, TOPICS, type PubSub } from '@countersign/bus';
import type { Bind } from '@countersign/carriers/config';
import { newTraceNonce, recordFully, TraceSeal, type TraceAnswer, type TracedPdu } from '@countersign/carriers/traces';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Carrier } from '../support/carrier.js';
import { GatewayHarness, PASSWORD, sms } from '../support/gateway-harness.js';
import { until } from '../support/until.js';

const OK = 0;
/** Rows are read every 2 s, and backoff starts at half a second. */
const SOON_MS = 10_000;
const TEXT = 'a text sent by this test only';
const IN_HEX = Buffer.from(TEXT).toString('hex');

let gateway: GatewayHarness;
let carrier: Carrier;
let bus: PubSub;
let bind: Bind;

beforeAll(async () => {
  gateway = await GatewayHarness.open();
  bus = openPubSub({ redisUrl: null, databaseUrl: gateway.harness.url }, () => undefined);
  carrier = new Carrier('north');
  const port = await carrier.listen();
  bind = await gateway.bind({ name: 'north', hosts: [{ host: '127.0.0.1', port }] });
  await until('the bind is bound', SOON_MS, () => carrier.isBound);
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([carrier.close(), bus.close()]);
});

async function recorded(): Promise<readonly TracedPdu[]> {
  const [row] = await gateway.harness.database.query<{ id: string }>('SELECT id FROM gateways');
  const gatewayId = row?.id ?? '';
  const seal = new TraceSeal(gateway.harness.keys, gatewayId);
  const question = { bindId: bind.id, format: 'json', nonce: newTraceNonce() } as const;
  const answer = await bus.ask(TOPICS.trace(gatewayId), seal.question(question), 5_000);
  const octets = seal.openAnswer(answer?.octets ?? Buffer.alloc(0), question);
  const { connections } = JSON.parse(String(octets)) as TraceAnswer;
  return connections.flatMap(({ pdus }) => pdus);
}

const send = async (): Promise<void> => {
  expect(await carrier.deliver(sms(TEXT))).toBe(OK);
};

describe('the flight recorder of a gateway', () => {
  it('records the PDUs of both directions in order, without password and text', async () => {
    await send();
    const pdus = await recorded();
    expect(pdus.map(({ direction, command, status }) => `${direction} ${command ?? ''} ${status}`)).toEqual([
      'out bind_transceiver ESME_ROK',
      'in bind_transceiver_resp ESME_ROK',
      'in deliver_sm ESME_ROK',
      'out deliver_sm_resp ESME_ROK',
    ]);
    expect(pdus[0]?.fields).toMatchObject({ systemId: 'us', password: '[redacted]' });
    expect(pdus[2]?.fields).toMatchObject({ shortMessage: `[${TEXT.length} octets]` });
    const octets = pdus.map((pdu) => pdu.octets).join('');
    expect(octets).not.toContain(Buffer.from(PASSWORD).toString('hex'));
    expect(octets).not.toContain(IN_HEX);
  });

  it('records texts while full traces are enabled, and none afterwards', async () => {
    const holdsText = async (): Promise<boolean> => (await recorded()).some(({ octets }) => octets.includes(IN_HEX));
    await recordFully(gateway.harness.database, bind.id, 60);
    bus.publish(TOPICS.binds);
    await until('a text is recorded', SOON_MS, async () => {
      await send();
      return holdsText();
    });
    expect(carrier.links).toBe(1);
    await gateway.harness.database.query('UPDATE binds SET full_trace_until = clock_timestamp()');
    await until('the texts are redacted', SOON_MS, async () => !(await holdsText()));
  });

  it('records the end of a link, and continues with the next link', async () => {
    const before = (await recorded()).length;
    carrier.drop();
    await until('the link is closed', SOON_MS, () => !carrier.isBound);
    await until('the bind is bound again', SOON_MS, () => carrier.isBound);
    await send();
    const pdus = await recorded();
    expect(pdus.length).toBeGreaterThan(before);
    expect(pdus.filter(({ command }) => command === 'bind_transceiver')).toHaveLength(2);
    expect(new Set(pdus.map(({ local }) => local)).size).toBe(2);
  });
});
