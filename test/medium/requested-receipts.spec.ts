import type { PDU } from 'smpp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { BindKind, Esme } from '../support/esme.js';
import { receiptOf } from '../support/carrier.js';
import { GatewayHarness, INBOUND_NUMBER, sms } from '../support/gateway-harness.js';
import { PHONE } from '../support/session-harness.js';
import { until } from '../support/until.js';

const OK = 0;
const QUEUE_FULL = 0x14;
const INVALID_REGISTERED_DELIVERY = 0x07;

let gateway: GatewayHarness;
let esmes: Esme[] = [];

beforeAll(async () => {
  gateway = await GatewayHarness.open();
  await gateway.system({ systemId: 'asks', sendWindow: 4, maxConnections: 10 });
  await gateway.system({ systemId: 'limited', submitPerSecond: 1 });
});
afterAll(() => gateway.close());
afterEach(async () => {
  for (const esme of esmes) esme.destroy();
  await Promise.all(esmes.map(({ closed }) => closed));
  esmes = [];
});

interface Peer {
  readonly esme: Esme;
  /** Every received PDU, in order: responses, and receipts. */
  readonly seen: PDU[];
  readonly receipts: PDU[];
}

async function connect(
  bind: BindKind = 'bind_transceiver',
  systemId = 'asks',
  answers = true,
  interfaceVersion = 0x34,
): Promise<Peer> {
  const esme = await gateway.esme(systemId, { bind, interfaceVersion });
  esmes.push(esme);
  const [seen, receipts]: [PDU[], PDU[]] = [[], []];
  esme.session.on('pdu', (pdu) => seen.push(pdu));
  for (const command of ['deliver_sm', 'data_sm'] as const) {
    esme.session.on(command, (pdu) => {
      receipts.push(pdu);
      if (answers) esme.session.send(pdu.response());
    });
  }
  return { esme, seen, receipts };
}

const textOf = (pdu: PDU | undefined): string => {
  const value: unknown = pdu?.['short_message'];
  return String(typeof value === 'object' && value !== null && 'message' in value ? value.message : value);
};
const outcomes = (outcome: string): Promise<number> =>
  gateway.metric(`countersign_smpp_requested_receipts_total{outcome="${outcome}"`);
const arrived = (receipts: readonly PDU[], count: number): Promise<void> =>
  until(`${count} receipts have arrived`, 10_000, () => receipts.length >= count);

describe('a message of a system', () => {
  it.each(['submit_sm', 'data_sm'] as const)(
    'as %s has the receipt that it requests, after its response',
    async (command) => {
      const { esme, seen, receipts } = await connect();
      const { short_message: text = '', ...fields } = sms('hello', { registered_delivery: 1 });
      const values = { ...fields, ...(command === 'submit_sm' ? { short_message: text } : { message_payload: text }) };
      const answer = await esme.send(command, values);
      await arrived(receipts, 1);
      expect(seen.map((pdu) => pdu.command)).toEqual([`${command}_resp`, 'deliver_sm']);
      const id = String(answer['message_id']);
      expect(id).toMatch(/^msg_/);
      expect(receipts[0]).toMatchObject({
        esm_class: 0x04,
        source_addr: INBOUND_NUMBER.slice(1),
        destination_addr: PHONE.slice(1),
        dest_addr_ton: 1,
        dest_addr_npi: 1,
        receipted_message_id: id,
        message_state: 2,
      });
      expect(textOf(receipts[0])).toMatch(
        new RegExp(`^id:${id} sub:001 dlvrd:001 submit date:(\\d{10}) done date:\\1 stat:DELIVRD err:000 text:$`),
      );
    },
  );

  const LONG = '4'.repeat(21);
  /** Addresses of a data_sm have up to 64 octets, those of a deliver_sm up to 20. */
  const withLongAddress = (field: 'source_addr' | 'destination_addr') => {
    const { short_message: text = '', ...fields } = sms('hello', { registered_delivery: 1, [field]: LONG });
    return { ...fields, message_payload: text };
  };

  it.each([
    ['source_addr', 'destination_addr'],
    ['destination_addr', 'source_addr'],
  ] as const)('with a %s that does not fit deliver_sm has its receipt as a data_sm', async (field, exchanged) => {
    const { esme, receipts } = await connect();
    const old = await connect('bind_receiver', 'asks', true, 0x33);
    const answer = await esme.send('data_sm', withLongAddress(field));
    await arrived(receipts, 1);
    expect(receipts[0]).toMatchObject({
      command: 'data_sm',
      esm_class: 0x04,
      [exchanged]: LONG,
      receipted_message_id: answer['message_id'],
      message_state: 2,
    });
    const payload: unknown = receipts[0]?.['message_payload'];
    expect(JSON.stringify(payload)).toContain(`id:${String(answer['message_id'])} sub:001`);
    expect(old.receipts).toEqual([]);
  });

  it('is refused if it requests such a receipt from a peer older than SMPP 3.4, which does not know data_sm', async () => {
    const { esme } = await connect('bind_transceiver', 'asks', true, 0x33);
    const values = withLongAddress('source_addr');
    expect((await esme.send('data_sm', values)).command_status).toBe(INVALID_REGISTERED_DELIVERY);
    expect((await esme.send('data_sm', { ...values, registered_delivery: 0 })).command_status).toBe(OK);
  });

  it.each([
    ['none', 0x00, false],
    ['success and failure', 0x01, true],
    ['failure alone', 0x02, false],
    ['success alone, of SMPP 5.0', 0x03, true],
    ['an intermediate notification', 0x10, false],
    ['an intermediate notification, and success and failure', 0x11, true],
    ['an acknowledgement of the application', 0x04, false],
  ])('that requests %s (0x%s) has a receipt: %s', async (_, registered_delivery, has) => {
    const { esme, receipts } = await connect();
    const answer = await esme.send('submit_sm', sms('hello', { registered_delivery }));
    // A receipt of a later message is behind that of an earlier one.
    const last = await esme.send('submit_sm', sms('last', { registered_delivery: 1 }));
    await until('the last receipt has arrived', 10_000, () =>
      receipts.some((pdu) => pdu['receipted_message_id'] === last['message_id']),
    );
    expect(receipts.map((pdu) => pdu['receipted_message_id'])).toEqual(
      has ? [answer['message_id'], last['message_id']] : [last['message_id']],
    );
  });

  it('has its receipt over another connection of the system if its own does not receive', async () => {
    const sender = await connect('bind_transmitter');
    const receiver = await connect('bind_receiver');
    const answer = await sender.esme.send('submit_sm', sms('hello', { registered_delivery: 1 }));
    await arrived(receiver.receipts, 1);
    expect(receiver.receipts[0]?.['receipted_message_id']).toBe(answer['message_id']);
    expect(sender.receipts).toEqual([]);
  });

  it('has none if no connection of the system receives', async () => {
    const before = await outcomes('no_link');
    const { esme } = await connect('bind_transmitter');
    expect((await esme.send('submit_sm', sms('hello', { registered_delivery: 1 }))).command_status).toBe(OK);
    await until('the receipt is counted', 10_000, async () => (await outcomes('no_link')) === before + 1);
  });

  it('has none unless it was accepted, nor has a receipt itself', async () => {
    const { esme, receipts } = await connect('bind_transceiver', 'limited');
    const asking = { registered_delivery: 1 };
    expect((await esme.send('submit_sm', { ...receiptOf('north-1', 'DELIVRD'), ...asking })).command_status).toBe(OK);
    const second = await esme.send('submit_sm', sms('throttled', asking));
    expect(second.command_status).not.toBe(OK);
    const { esme: other, receipts: others } = await connect();
    await gateway.line.cut();
    expect((await other.send('submit_sm', sms('not stored', asking))).command_status).toBe(QUEUE_FULL);
    await gateway.line.mend();
    await until('a message is stored again', 10_000, async () => {
      return (await other.send('submit_sm', sms('stored', asking))).command_status === OK;
    });
    await arrived(others, 1);
    expect([receipts.length, others.length]).toEqual([0, 1]);
  }, 40_000);
});

describe('the receipts of a system that does not answer them', () => {
  it('use at most half of its window, and all arrive once it answers', async () => {
    const { esme, receipts } = await connect('bind_transceiver', 'asks', false);
    for (let count = 0; count < 6; count += 1) await esme.send('submit_sm', sms('hello', { registered_delivery: 1 }));
    await arrived(receipts, 2);
    expect(receipts).toHaveLength(2);
    for (let count = 0; count < 6; count += 1) {
      await arrived(receipts, count + 1);
      const receipt = receipts[count];
      if (receipt !== undefined) esme.session.send(receipt.response());
    }
    expect(new Set(receipts.map((pdu) => pdu['receipted_message_id'])).size).toBe(6);
  });
});
