import type { NewBind, NewRoute } from '@countersign/carriers/config';
import { renderId, type Uuid } from '@countersign/ids';
import type { PDU } from 'smpp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Carrier } from '../support/carrier.js';
import { OutboundHarness } from '../support/outbound-harness.js';

/** A number routed to each carrier. */
const PHONES = { plain: '+447400123456', tagged: '+33612345678', payload: '+4915112345678', broken: '+48512345678' };
const LONG_TEXT = 'ж'.repeat(100);
const carriers = {
  plain: new Carrier('plain'),
  tagged: new Carrier('tagged'),
  payload: new Carrier('payload'),
  broken: new Carrier('broken'),
  spare: new Carrier('spare'),
};
let harness: OutboundHarness;

const setup = (
  name: keyof typeof carriers,
  submitOptions: { readonly bind?: object; readonly route?: object },
  route: Partial<NewRoute> = {},
): { carrier: Carrier; bind: Partial<NewBind>; route: Partial<NewRoute> } => ({
  carrier: carriers[name],
  bind: { submitOptions: submitOptions.bind ?? {} },
  route: { submitOptions: submitOptions.route ?? {}, ...route },
});

beforeAll(async () => {
  harness = await OutboundHarness.open([
    setup('plain', {}, { prefix: PHONES.plain }),
    setup(
      'tagged',
      {
        bind: { serviceType: 'BIND', priorityFlag: 2, tlvs: [{ tag: 1, type: 'hex', value: '00' }] },
        route: {
          serviceType: 'ROUTE',
          tlvs: [
            { tag: 0x1500, type: 'cstring', value: '{{brand}}/{{sender}}/{{country}}' },
            { tag: '0x1501', type: 'string', value: '{{messageId}}' },
            { tag: 'user_message_reference', type: 'uint16', value: 513 },
          ],
          rewrite: [{ of: 'source', match: 'ACME', exact: true, replace: 'VM-ACME' }],
        },
      },
      { prefix: PHONES.tagged, sourceAddress: 'ACME' },
    ),
    setup('payload', { bind: { concatenation: 'message_payload' } }, { prefix: PHONES.payload }),
    // As a later release could have stored it.
    setup('broken', { route: { validityPeriod: 'never' } }, { prefix: PHONES.broken }),
    setup('spare', {}, { prefix: PHONES.broken, priority: 1 }),
  ]);
}, 40_000);
afterAll(async () => {
  await harness.close();
  await Promise.all(Object.values(carriers).map((carrier) => carrier.close()));
});

async function send(to: keyof typeof PHONES, text?: string): Promise<Uuid> {
  const session = await harness.gateway.create({ ttlSeconds: 300, phone: PHONES[to] });
  const id = await harness.queueCode(session, text === undefined ? {} : { text });
  await harness.waitForState(id, 'submitted');
  return id;
}
const lastOf = (name: keyof typeof carriers): PDU => {
  const submit = carriers[name].submits.at(-1);
  if (submit === undefined) throw new Error(`${name} received nothing`);
  return submit;
};
const octetsOf = (pdu: PDU, tag: number): string => (Reflect.get(pdu, tag) as Buffer).toString('utf8');

describe('submit options', () => {
  it('that are absent leave a submit_sm as it is', async () => {
    await send('plain');
    expect(lastOf('plain')).toMatchObject({
      service_type: '',
      source_addr_ton: 1,
      source_addr_npi: 1,
      source_addr: '14155550100',
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      destination_addr: '447400123456',
      protocol_id: 0,
      priority_flag: 0,
      registered_delivery: 1,
    });
  });

  it('of a route replace those of its bind by keys, and placeholders have the values of the message', async () => {
    const id = await send('tagged');
    const submit = lastOf('tagged');
    expect(submit).toMatchObject({
      service_type: 'ROUTE',
      priority_flag: 2,
      source_addr_ton: 5,
      source_addr: 'VM-ACME',
      user_message_reference: 513,
    });
    expect(Reflect.has(submit, 1)).toBe(false);
    expect(octetsOf(submit, 0x1500)).toBe('Acme/VM-ACME/FR\0');
    expect(octetsOf(submit, 0x1501)).toBe(renderId('msg', id));
  });

  it('send a long text as one message_payload, and a short one as before', async () => {
    await send('payload', LONG_TEXT);
    expect(carriers.payload.submits).toHaveLength(1);
    expect(lastOf('payload')).toMatchObject({ data_coding: 8, esm_class: 0, registered_delivery: 1 });
    const payload: unknown = Reflect.get(lastOf('payload'), 'message_payload');
    expect(Reflect.get(Object(payload) as object, 'message')).toBe(LONG_TEXT);
    await send('payload');
    expect(Reflect.has(lastOf('payload'), 'message_payload')).toBe(false);
  });

  it('that are not legal refuse their route, and the next one is used', async () => {
    const id = await send('broken');
    expect(await harness.code(id)).toMatchObject({ carrier: 'spare', attempts: 2 });
    expect(carriers.broken.submits).toHaveLength(0);
  });
});
