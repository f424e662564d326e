import type { PduValues } from 'smpp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tlvForms, textForms, type ReceiptForm } from '../../apps/gateway/src/inbound/receipt-forms.fixture.js';
import { Carrier } from '../support/carrier.js';
import type { Esme } from '../support/esme.js';
import { INBOUND_NUMBER, partOfSms, sms } from '../support/gateway-harness.js';
import { OutboundHarness } from '../support/outbound-harness.js';
import { PHONE, STRANGER } from '../support/session-harness.js';

const OK = 0;
const RECEIPT = 0x04;
const QUEUE_FULL = 0x14;

const north = new Carrier('north');
const west = new Carrier('west');
let harness: OutboundHarness;
let esme: Esme;
let count = 0;

beforeAll(async () => {
  harness = await OutboundHarness.open([{ carrier: north }, { carrier: west, route: { priority: 1 } }]);
  await harness.gateway.system({ systemId: 'north-in' });
  await harness.gateway.system({ systemId: 'west-in', carrier: 'west' });
  esme = await harness.gateway.esme('north-in');
}, 40_000);
afterAll(async () => {
  await harness.close();
  await Promise.all([north, west].map((carrier) => carrier.close()));
});

/** A submitted code, with the id that its carrier gave it. */
async function submitted(): Promise<{ readonly id: string; readonly smscId: string }> {
  const smscId = `7fa${(count++).toString(16).padStart(3, '0')}`;
  north.script.push(() => ({ message_id: smscId }));
  const id = await harness.queueCode(await harness.gateway.create({ ttlSeconds: 300 }));
  await harness.waitForState(id, 'submitted');
  return { id, smscId };
}

/** From the phone that received the message to its sender, in the octets of the form. */
function valuesOf({ command, dataCoding, inPayload, text, tlvs }: ReceiptForm, esmClass: number): PduValues {
  const { short_message: _, ...fields } = sms('', { esm_class: esmClass, data_coding: dataCoding });
  const { receipted_message_id: id, ...others } = tlvs;
  // npm smpp ends the id with a NUL.
  const named = id === undefined ? {} : { receipted_message_id: id.toString('latin1').replace('\0', '') };
  const payload = inPayload ? { message_payload: text } : command === 'deliver_sm' ? { short_message: text } : {};
  return { ...fields, ...others, ...named, ...payload };
}

const deliver = async (values: PduValues): Promise<number> => (await esme.send('deliver_sm', values)).command_status;
const stored = async (): Promise<string[]> => (await harness.gateway.messages()).map(({ fate }) => fate);
const receiptText = (smscId: string): string => `id:${smscId} sub:001 dlvrd:001 stat:DELIVRD err:000 text:`;

describe('a receipt settles its message', () => {
  const names = [...textForms('7'), ...tlvForms('7')].map(({ what }, nth): [string, number] => [what, nth]);

  it.each(names)('%s, with every esm_class', async (_, nth) => {
    for (const esmClass of [RECEIPT, 0, 0x08, 0x10]) {
      const { id, smscId } = await submitted();
      const before = await stored();
      const receipt = [...textForms(smscId), ...tlvForms(smscId)][nth];
      if (receipt === undefined) throw new Error('no such form');
      const answer = await esme.send(receipt.command, valuesOf(receipt, esmClass));
      expect([esmClass, answer.command_status]).toEqual([esmClass, OK]);
      const { state, networkError } = await harness.code(id);
      expect([esmClass, state, networkError?.toLowerCase()]).toEqual([
        esmClass,
        receipt.state,
        receipt.networkError?.toLowerCase(),
      ]);
      expect(await stored()).toEqual(before);
    }
  });

  it('over the bind that sent it, before its response is recorded', async () => {
    const early: Promise<number>[] = [];
    north.script.push(() => {
      early.push(north.deliver(sms(receiptText('early-7'))));
      return { message_id: 'early-7' };
    });
    const id = await harness.queueCode(await harness.gateway.create({ ttlSeconds: 300 }));
    await harness.waitForState(id, 'delivered');
    expect(await Promise.all(early)).toEqual([OK]);
  });

  it.each([
    ['national', { source_addr_ton: 2, source_addr: PHONE.slice(2) }],
    ['with an international prefix', { source_addr_ton: 0, source_addr: `00${PHONE.slice(1)}` }],
    ['as its destination', { source_addr: INBOUND_NUMBER.slice(1), destination_addr: PHONE.slice(1) }],
    ['nowhere', { source_addr_ton: 0, source_addr: '' }],
  ])('with the phone %s', async (_, addresses) => {
    const { id, smscId } = await submitted();
    expect(await deliver(sms(receiptText(smscId), addresses))).toBe(OK);
    expect(await harness.code(id)).toMatchObject({ state: 'delivered' });
  });
});

describe('a text in the form of a receipt', () => {
  it('settles nothing and is stored as an MO, from another phone than that of the message', async () => {
    const { id, smscId } = await submitted();
    const before = await stored();
    expect(await deliver(sms(receiptText(smscId), { source_addr: STRANGER.slice(1) }))).toBe(OK);
    expect(await deliver(sms(receiptText(smscId), { source_addr: '2671' }))).toBe(OK);
    expect(await deliver(sms(receiptText(smscId), { source_addr_ton: 5, source_addr: 'ACME' }))).toBe(OK);
    expect(await harness.code(id)).toMatchObject({ state: 'submitted' });
    expect(await stored()).toEqual([...before, 'no_token', 'no_token', 'no_token']);
  });

  it('settles nothing over a link of another carrier', async () => {
    const { id, smscId } = await submitted();
    const other = await harness.gateway.esme('west-in');
    expect((await other.send('deliver_sm', sms(receiptText(smscId)))).command_status).toBe(OK);
    expect((await other.send('deliver_sm', sms(receiptText(smscId), { esm_class: RECEIPT }))).command_status).toBe(OK);
    expect(await harness.code(id)).toMatchObject({ state: 'submitted' });
    other.destroy();
  });

  it('is not kept for a later message with its id', async () => {
    expect(await deliver(sms(receiptText('later-7')))).toBe(OK);
    north.script.push(() => ({ message_id: 'later-7' }));
    const id = await harness.queueCode(await harness.gateway.create({ ttlSeconds: 300 }));
    await harness.waitForState(id, 'submitted');
    const rows = await harness.gateway.harness.database.query(
      `SELECT receipt_state AS state FROM submissions WHERE smsc_message_id = 'later-7'`,
    );
    expect(rows).toEqual([{ state: null }]);
  });

  it('with a token is an MO: it approves, and settles nothing', async () => {
    const { id, smscId } = await submitted();
    const session = await harness.gateway.create();
    expect(await deliver(sms(`${receiptText(smscId)}${harness.gateway.textOf(session)}`))).toBe(OK);
    expect(await harness.gateway.statusOf(session)).toBe('approved');
    expect(await harness.code(id)).toMatchObject({ state: 'submitted' });
  });

  it('gets the retryable status while PostgreSQL is unreachable', async () => {
    const { id, smscId } = await submitted();
    await harness.gateway.line.cut();
    expect(await deliver(sms(receiptText(smscId)))).toBe(QUEUE_FULL);
    await harness.gateway.line.mend();
    let status = QUEUE_FULL;
    while (status !== OK) status = await deliver(sms(receiptText(smscId)));
    expect(await harness.code(id)).toMatchObject({ state: 'delivered' });
  });
});

describe('an MO that is marked as a receipt', () => {
  it.each([
    ['by esm_class', RECEIPT, {}],
    ['as an intermediate notification', 0x20, {}],
    ['by the TLV of an id', 0, { receipted_message_id: '7' }],
  ])('approves its session: %s', async (_, esmClass, tlvs) => {
    const session = await harness.gateway.create();
    expect(await deliver(sms(harness.gateway.textOf(session), { esm_class: esmClass, ...tlvs }))).toBe(OK);
    expect(await harness.gateway.statusOf(session)).toBe('approved');
  });

  it('approves its session in two parts', async () => {
    const session = await harness.gateway.create();
    const text = harness.gateway.textOf(session);
    const marked = { esm_class: 0x40 | RECEIPT };
    expect(await deliver(partOfSms(text.slice(0, 16), 9, 2, 1, marked))).toBe(OK);
    expect(await deliver(partOfSms(text.slice(16), 9, 2, 2, marked))).toBe(OK);
    expect(await harness.gateway.statusOf(session)).toBe('approved');
  });
});
