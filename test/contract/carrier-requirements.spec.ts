import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { OutboundStore } from '@countersign/carriers/outbound';
import { newId, parseId } from '@countersign/ids';
import type { PDU } from 'smpp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { Carrier } from '../support/carrier.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { GatewayBeside } from '../support/gateway-beside.js';
import { until } from '../support/until.js';

// The bodies of the pages are sent to the API, and a code of each arrives at a carrier on another SMPP implementation.

const WITHIN_MS = 20_000;
const PAGES = new URL('../../apps/control-plane/src/docs/pages/carrier-requirements/', import.meta.url);
const SHORT_TEXT = '123456 is your Acme code.';
/** Not in the carrier's alphabet, and longer than an SMS. */
const LONG_TEXT = 'ж'.repeat(100);

type Body = { readonly submitOptions: Readonly<Record<string, unknown>> };

/** The JSON bodies of the pages, by page and place. */
const BODIES: ReadonlyMap<string, Body> = new Map(
  readdirSync(PAGES).flatMap((file) =>
    [...readFileSync(new URL(file, PAGES), 'utf8').matchAll(/^```json\n(.*?)^```/gms)].map(
      ([, json = ''], at): [string, Body] => [`${path.basename(file, '.md')} ${at + 1}`, JSON.parse(json) as Body],
    ),
  ),
);

/** The code sent with each body: to a number of its own, so that its route and its submits are known. */
const CASES = {
  'india-dlt 1': { to: '+919876543210', over: { sourceAddress: 'ACMEIN' }, text: SHORT_TEXT },
  'relative-validity 1': { to: '+33612345678', over: {}, text: SHORT_TEXT },
  'short-code 1': { to: '+14155552671', over: { sourceAddress: '60606' }, text: SHORT_TEXT },
  'long-texts 1': { to: '+4915112345678', over: {}, text: LONG_TEXT },
  'national-numbers 1': { to: '+48512345678', over: {}, text: SHORT_TEXT },
  'national-numbers 2': { to: '+447400123456', over: {}, text: SHORT_TEXT },
  'no-receipts 1': { to: '+34612345678', over: {}, text: SHORT_TEXT },
} as const;
type Case = keyof typeof CASES;

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let gateway: GatewayBeside;
const carriers = new Map<Case, Carrier>();

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  for (const [name, { to, over }] of Object.entries(CASES) as [Case, (typeof CASES)[Case]][]) {
    const carrier = new Carrier(name);
    carriers.set(name, carrier);
    const link = { name, host: '127.0.0.1', port: await carrier.listen(), systemId: 'us', password: 'secret08' };
    const bind = await admin.post('binds', { ...link, ...BODIES.get(name) });
    expect([name, bind.status, bind.json['submitOptions']]).toEqual([name, 201, BODIES.get(name)?.submitOptions]);
    // The bind's options are replaced by the route's, which are those of the page.
    const route = await admin.post('routes', { prefix: to, bindId: idOf(bind), ...BODIES.get(name), ...over });
    expect([name, route.status, route.json['submitOptions']]).toEqual([name, 201, BODIES.get(name)?.submitOptions]);
  }
  gateway = await GatewayBeside.start(harness);
  await until('all are bound', WITHIN_MS, () => [...carriers.values()].every(({ isBound }) => isBound));
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await Promise.all([...carriers.values()].map((carrier) => carrier.close()));
  await harness.close();
});

/** Sends the code of a case, and resolves to the submits that its carrier received and the end of its session. */
async function received(name: Case, parts = 1): Promise<{ readonly submits: readonly PDU[]; readonly endsAt: Date }> {
  const { to, text } = CASES[name];
  const session: Answer = await harness.create({ phone: to });
  expect(session.status).toBe(200);
  const id = newId(Math.floor(harness.clock.nowMs()));
  const endsAt = new Date(String(session.json['expiresAt']));
  const carrier = carriers.get(name);
  if (carrier === undefined) throw new Error('no carrier');
  const before = carrier.submits.length;
  await new OutboundStore().insert(harness.database, {
    id,
    sessionId: parseId('sess', String(session.json['id'])) ?? '',
    accountId: parseId('acct', harness.demo.accountId) ?? '',
    test: false,
    destination: to,
    country: 'US',
    sender: '+14155550100',
    textSealed: harness.keys.seal('message-text', text, id),
    createdAt: new Date(harness.clock.nowMs()),
    expiresAt: endsAt,
  });
  await until('the code arrives', WITHIN_MS, () => carrier.submits.length >= before + parts);
  return { submits: carrier.submits.slice(before), endsAt };
}
const one = async (name: Case): Promise<PDU> => {
  const { submits } = await received(name);
  const [submit] = submits;
  if (submit === undefined) throw new Error('no submit');
  return submit;
};
const textOf = (pdu: PDU, tag: number): string => String(Reflect.get(pdu, tag));
const wholeSecond = (time: Date): Date => new Date(Math.floor(time.getTime() / 1_000) * 1_000);

describe('the pages on carrier requirements', () => {
  it('have a body for each case, and no other', () =>
    expect([...BODIES.keys()].sort()).toEqual(Object.keys(CASES).sort()));

  it('India: the ids of the entity, the template and the chain are TLVs of each code', async () => {
    const submit = await one('india-dlt 1');
    expect([0x1400, 0x1401, 0x1402].map((tag) => textOf(submit, tag))).toEqual([
      '1701158019811140068',
      '1107160000000012345',
      '1701158019811140068,1302157243747322354',
    ]);
    expect(submit).toMatchObject({ source_addr_ton: 5, source_addr_npi: 0, source_addr: 'ACMEIN' });
  });

  it('absolute validity: the end of the session, to the second', async () => {
    const { submits, endsAt } = await received('relative-validity 1');
    expect(submits[0]).toMatchObject({ validity_period: wholeSecond(endsAt) });
  });

  it('a short code has the given TON and NPI', async () => {
    expect(await one('short-code 1')).toMatchObject({
      source_addr_ton: 6,
      source_addr_npi: 1,
      source_addr: '60606',
    });
  });

  it('SAR: the parts have TLVs and no user data header', async () => {
    const { submits } = await received('long-texts 1', 2);
    expect(submits).toMatchObject(
      [1, 2].map((part) => ({
        esm_class: 0,
        data_coding: 8,
        registered_delivery: part - 1,
        sar_total_segments: 2,
        sar_segment_seqnum: part,
        sar_msg_ref_num: Reflect.get(submits[0] ?? {}, 'sar_msg_ref_num') as number,
      })),
    );
    expect(submits.map((pdu) => Reflect.get(Object(pdu.short_message) as object, 'message') as unknown).join('')).toBe(
      LONG_TEXT,
    );
  });

  it('national numbers: without the country code, or as a rule says', async () => {
    expect(await one('national-numbers 1')).toMatchObject({
      dest_addr_ton: 2,
      dest_addr_npi: 1,
      destination_addr: '512345678',
    });
    expect(await one('national-numbers 2')).toMatchObject({
      dest_addr_ton: 0,
      dest_addr_npi: 1,
      destination_addr: '07400123456',
    });
  });

  it('no receipts: none is requested', async () => {
    expect(await one('no-receipts 1')).toMatchObject({ registered_delivery: 0 });
  });
});

describe('submitOptions', () => {
  const refused = async (submitOptions: unknown): Promise<readonly unknown[]> => {
    const answer = await admin.post('routes', {
      prefix: '+7',
      bindId: 'bind_00000000000000000000000000',
      submitOptions,
    });
    const { message } = (answer.json['error'] ?? {}) as { readonly message?: string };
    return [answer.status, answer.field, message];
  };

  it('are refused with the member at fault', async () => {
    expect(await refused([])).toEqual([422, 'submitOptions', 'submitOptions must be an object.']);
    expect(await refused({ tlvs: [{ tag: '0x1400', type: 'string', value: '{{code}}' }] })).toEqual([
      422,
      'submitOptions.tlvs.0.value',
      'submitOptions.tlvs.0.value must have no placeholders but {{brand}}, {{sender}}, {{country}}, {{messageId}}.',
    ]);
    const [status, field] = await refused({ validty: 'none' });
    expect([status, field]).toEqual([422, 'submitOptions.validty']);
  });

  it('are refused with the example that does not hold, what came out, and by which rule', async () => {
    const rule = { of: 'destination', match: '+44', replace: '00' };
    expect(await refused({ rewrite: [{ ...rule, examples: [{ from: '+447400123456', to: '07400123456' }] }] })).toEqual(
      [
        422,
        'submitOptions.rewrite.0.examples.0',
        'submitOptions.rewrite.0.examples.0 does not hold: "+447400123456" becomes "007400123456" (by rewrite.0), not "07400123456".',
      ],
    );
  });

  it('show a viewer no phone of an example', async () => {
    const [bind] = (await admin.get('binds')).json['data'] as readonly { readonly id: string }[];
    const options = BODIES.get('national-numbers 2');
    const route = await admin.post('routes', { prefix: '+7', bindId: bind?.id, ...options });
    const system = await admin.post('smpp-systems', { systemId: 'rewritten', ...options });
    const viewer = await admin.colleague('viewer');
    const national = (await admin.get('binds')).json['data'] as readonly {
      readonly id: string;
      readonly name: string;
    }[];
    const paths = [
      `routes/${idOf(route)}`,
      `smpp-systems/${idOf(system)}`,
      `binds/${national.find(({ name }) => name === 'national-numbers 2')?.id ?? ''}`,
    ];
    for (const path of paths) {
      expect((await admin.get(path)).text).toContain('+447400123456');
      const shown = await viewer.get(path);
      expect([path, shown.status]).toEqual([path, 200]);
      expect(shown.text).toContain('"rewrite"');
      expect(shown.text).not.toMatch(/7400123456/);
    }
  });

  it('show a viewer no phone of a TLV or a sender', async () => {
    const [bind] = (await admin.get('binds')).json['data'] as readonly { readonly id: string }[];
    const [text, digits] = ['+447400123456', Buffer.from('447400123456').toString('hex')];
    const tlvs = [
      { tag: '0x1400', type: 'string', value: text },
      { tag: '0x1401', type: 'hex', value: digits },
      { tag: '0x1402', type: 'uint32', value: 4155552671 },
      { tag: '0x1403', type: 'uint8', value: 7 },
    ];
    const route = await admin.post('routes', {
      prefix: '+8',
      bindId: bind?.id,
      sourceAddress: text,
      submitOptions: { tlvs },
    });
    expect(route.status).toBe(201);
    const shown = await (await admin.colleague('viewer', 'viewer of TLVs')).get(`routes/${idOf(route)}`);
    expect(shown.status).toBe(200);
    expect(shown.text).not.toMatch(/7400123456|4155552671/);
    expect(shown.text).not.toContain(digits);
    expect(shown.json['submitOptions']).toMatchObject({ tlvs: [{}, {}, {}, { value: 7 }] });
  });
});
