import type { Uuid } from '@countersign/ids';
import type { PDU } from 'smpp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Carrier } from '../support/carrier.js';
import type { Esme } from '../support/esme.js';
import { OutboundHarness } from '../support/outbound-harness.js';
import { SiblingGateway } from '../support/sibling-gateway.js';
import { until } from '../support/until.js';

const CODES = 10;
const PHONE = '+447400123456';

/** The carrier's bind is held by the first gateway; the aggregator is connected to the second. */
const spare = new Carrier('spare');
let harness: OutboundHarness;
let sibling: SiblingGateway;

beforeAll(async () => {
  harness = await OutboundHarness.open([{ carrier: spare, bind: { submitPerSecond: 1_000 } }]);
  const { carriers, harness: stores } = harness.gateway;
  const { id: systemId } = await harness.gateway.system({ systemId: 'aggregator', carrier: 'aggregator' });
  await carriers.createRoute(stores.database, { prefix: '+44', systemId });
  // Restarted, so that no route cached during the setup is used.
  await harness.gateway.stop();
  await harness.gateway.start();
  await until('the carrier is bound', 20_000, () => spare.isBound);
  sibling = await SiblingGateway.start(harness.gateway);
}, 70_000);
afterAll(async () => {
  await sibling.close();
  await harness.close();
  await spare.close();
});

async function connectToSibling(): Promise<{ esme: Esme; received: PDU[] }> {
  const esme = await harness.gateway.esme('aggregator', { port: sibling.smppPort });
  const received: PDU[] = [];
  esme.session.on('deliver_sm', (pdu) =>
    esme.session.send(pdu.response({ message_id: `aggregator-${received.push(pdu) - 1}` })),
  );
  await until('its row is written', 10_000, async () => {
    const [row] = await harness.gateway.harness.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM system_connections',
    );
    return row?.count === 1;
  });
  return { esme, received };
}

async function queue(count: number): Promise<Uuid[]> {
  const session = await harness.gateway.create({ ttlSeconds: 300, phone: PHONE });
  return Promise.all(Array.from({ length: count }, () => harness.queueCode(session)));
}

async function carriersOf(codes: readonly Uuid[]): Promise<(string | null)[]> {
  return Promise.all(codes.map(async (id) => (await harness.waitForState(id, 'submitted')).carrier));
}

describe('codes with a route to a system that is connected to another gateway', () => {
  it('are sent by that gateway, once, and by any once it has gone', async () => {
    const { esme, received } = await connectToSibling();
    const codes = await queue(CODES);
    expect(await carriersOf(codes)).toEqual(codes.map(() => 'aggregator'));
    expect(received).toHaveLength(CODES);
    expect(spare.submits).toHaveLength(0);
    esme.destroy();
    await esme.closed;
    const later = await queue(CODES);
    expect(await carriersOf(later)).toEqual(later.map(() => 'spare'));
    expect(spare.submits).toHaveLength(CODES);
  }, 60_000);
});
