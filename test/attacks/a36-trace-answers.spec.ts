import { openPubSub, TOPICS, type BusMessage, type PubSub } from '@countersign/bus';
import { newTraceNonce, TraceSeal, type TraceFormat } from '@countersign/carriers/traces';
import type { Uuid } from '@countersign/ids';
import { encodePdu } from '@countersign/smpp/codec';
import { deliverSm } from '@countersign/smpp/pdu';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FlightRecorder } from '../../apps/gateway/src/recorder/flight-recorder.js';
import { RING_PDUS } from '../../apps/gateway/src/recorder/pdu-ring.js';
import { TraceResponder } from '../../apps/gateway/src/recorder/trace-responder.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';

// A question for a trace passes through the store of the bus, so whoever reads there can publish it again.

const ANSWER_MS = 5_000;
const AT_ONCE = 50;

describe('A36 questions for traces', () => {
  let harness: SessionHarness;
  let bus: PubSub;
  let responder: TraceResponder;
  let gatewayId: Uuid;
  let bindId: Uuid;
  let seal: TraceSeal;

  beforeAll(async () => {
    harness = await openSessionHarness();
    bus = openPubSub({ redisUrl: null, databaseUrl: harness.url }, () => undefined);
    [gatewayId, bindId] = [harness.clock.newId(), harness.clock.newId()];
    const recorder = new FlightRecorder(harness.clock);
    const end = { address: '127.0.0.1', port: 2_775 };
    const record = recorder.tap({ bindId, slot: 0, ends: { local: end, remote: end }, fullUntil: () => null });
    for (let n = 0; n < RING_PDUS; n++) record('in', encodePdu({ ...deliverSm({}), sequence: n + 1 }));
    responder = new TraceResponder(gatewayId, recorder, bus, harness.keys);
    seal = new TraceSeal(harness.keys, gatewayId);
    await responder.ready;
  });
  afterAll(async () => {
    responder.close();
    await bus.close();
    await harness.close();
  });

  const question = (format: TraceFormat = 'json'): Buffer => seal.question({ bindId, format, nonce: newTraceNonce() });
  const ask = (sealed: Buffer, timeoutMs = ANSWER_MS): Promise<BusMessage | null> =>
    bus.ask(TOPICS.trace(gatewayId), sealed, timeoutMs);

  it('A36 are answered once, so that a recorded one costs the gateway nothing', async () => {
    const recorded = question();
    expect(await ask(recorded)).not.toBeNull();
    expect(await ask(recorded, 500)).toBeNull();
    expect(await ask(question('pcap'))).not.toBeNull();
  });

  it('A36 are answered one at a time, few wait, and the next one is answered', async () => {
    const atOnce = await Promise.all(Array.from({ length: AT_ONCE }, () => ask(question(), 2_000)));
    const answered = atOnce.filter((answer) => answer !== null).length;
    expect(answered).toBeGreaterThan(0);
    expect(answered).toBeLessThan(AT_ONCE);
    expect(await ask(question())).not.toBeNull();
  });
});
