import { CarrierStore } from '@countersign/carriers/config';
import { MessageStore, type MessageFate } from '@countersign/carriers/inbound';
import { OutboundStore } from '@countersign/carriers/outbound';
import { newId, parseId, renderId, type Uuid } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';

const OTHER_PHONE = '+442071838750';
const TEXT = 'AUTH-ACME-secret';

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let bindId: Uuid;
let sessionId: string;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  const carriers = new CarrierStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const hosts = [{ host: '127.0.0.1', port: 1 }];
  const bind = { name: 'north', carrier: 'north', hosts, systemId: 'x', password: 'x', enabled: false };
  ({ id: bindId } = await carriers.createBind(harness.database, bind));
  sessionId = String((await harness.create()).json['id']);
});
afterAll(() => harness.close());

interface Sms {
  readonly source?: string;
  readonly fate?: MessageFate;
  readonly session?: string | null;
  readonly linkId?: Uuid;
  readonly part?: { readonly number: number; readonly total: number };
}

let lastMs = 0;
/** Later than all ids before it: messages of one millisecond have no order. */
function nextId(): Uuid {
  lastMs = Math.max(lastMs + 1, Math.floor(harness.clock.nowMs()));
  return newId(lastMs);
}

/** Stores an MO, as a gateway does. */
async function received({ source = PHONE.slice(1), fate = 'matched', session = sessionId, ...rest }: Sms = {}) {
  const id = nextId();
  await new MessageStore().insertInbound(harness.database, [
    {
      id,
      carrier: 'north',
      linkId: rest.linkId ?? bindId,
      source,
      sourceTon: 1,
      sourceNpi: 1,
      destination: '60606',
      dataCoding: 0,
      textSealed: harness.keys.seal('message-text', TEXT, id),
      part: rest.part ?? null,
      fate,
      sessionId: session === null ? null : parseId('sess', session),
      accountId: session === null ? null : parseId('acct', harness.demo.accountId),
    },
  ]);
  return renderId('msg', id);
}

/** Queues a code, as `send-sms` does. */
async function sent(session = sessionId, destination = PHONE): Promise<string> {
  const id = nextId();
  await new OutboundStore().insert(harness.database, {
    id,
    sessionId: parseId('sess', session) ?? '',
    accountId: parseId('acct', harness.demo.accountId) ?? '',
    test: false,
    destination,
    country: 'US',
    sender: 'ACME',
    textSealed: harness.keys.seal('message-text', '123456 is your code.', id),
    createdAt: new Date(harness.clock.nowMs()),
    expiresAt: new Date(harness.clock.nowMs() + 60_000),
  });
  return renderId('msg', id);
}

const idsOf = async (query: string): Promise<unknown[]> =>
  dataOf(await admin.get(`messages?${query}`)).map(({ id }) => id);
const newSession = async (phone: string): Promise<string> => String((await harness.create({ phone })).json['id']);

describe('messages', () => {
  it('from phones are shown with their fate, and without their text', async () => {
    const id = await received();
    const answer = await admin.get(`messages/${id}`);
    const { at, ...rest } = answer.json;
    expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(rest).toEqual({
      id,
      direction: 'in',
      fate: 'matched',
      sessionId,
      accountId: harness.demo.accountId,
      carrier: 'north',
      linkId: renderId('bind', bindId),
      source: PHONE.slice(1),
      destination: '60606',
      part: null,
      attempts: null,
      unknownFates: null,
      networkError: null,
      smscMessageId: null,
      submittedAt: null,
      endedAt: null,
    });
    expect(dataOf(await admin.get('messages?limit=1'))).toEqual([answer.json]);
    expect(answer.text).not.toContain('secret');
  });

  it('to phones are shown with their state', async () => {
    const id = await sent();
    expect((await admin.get(`messages/${id}`)).json).toMatchObject({
      id,
      direction: 'out',
      fate: 'queued',
      sessionId,
      carrier: null,
      linkId: null,
      source: 'ACME',
      destination: PHONE,
      attempts: 0,
      unknownFates: 0,
    });
    await harness.database.query(
      `UPDATE outbound_messages SET state = 'undelivered', next_attempt_at = NULL, text_sealed = NULL, attempts = 2,
         unknown_fates = 1,
         carrier = 'north', bind_id = $2, source = '60606', smsc_message_id = 'a1', network_error = '027',
         submitted_at = now(), ended_at = now() WHERE id = $1`,
      [parseId('msg', id), bindId],
    );
    expect((await admin.get(`messages/${id}`)).json).toMatchObject({
      fate: 'undelivered',
      carrier: 'north',
      linkId: renderId('bind', bindId),
      source: '60606',
      attempts: 2,
      unknownFates: 1,
      networkError: '027',
      smscMessageId: 'a1',
      submittedAt: expect.stringMatching(/Z$/) as string,
      endedAt: expect.stringMatching(/Z$/) as string,
    });
  });

  it('to phones are shown with each attempt: over which bind, and what it answered', async () => {
    const id = await sent();
    const gateway = nextId();
    const route = nextId();
    const startedAt = '2026-01-31T12:00:00.000Z';
    const attempt = (n: number, rest: object) => ({ n, startedAt, gateway, route, bind: bindId, slot: 0, ...rest });
    await harness.database.query(`UPDATE outbound_messages SET attempts = 2, attempt_log = $2::jsonb WHERE id = $1`, [
      parseId('msg', id),
      JSON.stringify([
        attempt(1, { outcome: 'throttled', error: 'ESME_RTHROTTLED', submittedAt: startedAt, answeredAt: startedAt }),
        attempt(2, { carrier: 'north', source: '60606' }),
      ]),
    ]);
    const rendered = {
      startedAt,
      linkId: renderId('bind', bindId),
      linkName: 'north',
      connection: 0,
      owner: renderId('gw', gateway),
      routeId: renderId('route', route),
      smscMessageId: null,
      error: null,
    };
    const answer = await admin.get(`messages/${id}`);
    expect(answer.json).toMatchObject({ attempts: 2 });
    expect(answer.json['attemptLog']).toEqual([
      {
        ...rendered,
        attempt: 1,
        outcome: 'throttled',
        commandStatus: 'ESME_RTHROTTLED',
        submittedAt: startedAt,
        answeredAt: startedAt,
        carrier: null,
        source: null,
      },
      {
        ...rendered,
        attempt: 2,
        outcome: null,
        commandStatus: null,
        submittedAt: null,
        answeredAt: null,
        carrier: 'north',
        source: '60606',
      },
    ]);
    expect(dataOf(await admin.get('messages?direction=out&limit=1'))[0]).not.toHaveProperty('attemptLog');
  });

  it('may be parts, and may have arrived over a link that is closed', async () => {
    const id = await received({ part: { number: 1, total: 2 }, linkId: harness.clock.newId() });
    expect((await admin.get(`messages/${id}`)).json).toMatchObject({ part: { number: 1, total: 2 }, linkId: null });
  });

  it('in both directions are one list, newest first, page by page', async () => {
    const session = await newSession(PHONE);
    const ids = [];
    for (const make of [received, sent, received, sent, received]) {
      ids.unshift(await (make === sent ? sent(session) : received({ session })));
    }
    expect(await idsOf(`sessionId=${session}`)).toEqual(ids);
    const first = await admin.get(`messages?sessionId=${session}&limit=3`);
    expect([dataOf(first).map(({ id }) => id), first.json['hasMore']]).toEqual([ids.slice(0, 3), true]);
    const last = await admin.get(`messages?sessionId=${session}&limit=3&startingAfter=${String(ids[2])}`);
    expect([dataOf(last).map(({ id }) => id), last.json['hasMore']]).toEqual([ids.slice(3), false]);
  });

  it('are found by direction and by fate', async () => {
    const session = await newSession(PHONE);
    const matched = await received({ session });
    const duplicate = await received({ session, fate: 'duplicate' });
    const ambiguous = await received({ session, fate: 'ambiguous_sender' });
    const queued = await sent(session);
    const of = (query: string): Promise<unknown[]> => idsOf(`sessionId=${session}&${query}`);
    expect(await of('direction=in')).toEqual([ambiguous, duplicate, matched]);
    expect(await of('fate=ambiguous_sender')).toEqual([ambiguous]);
    expect(await of('direction=out')).toEqual([queued]);
    expect(await of('fate=duplicate')).toEqual([duplicate]);
    expect(await of('fate=queued')).toEqual([queued]);
    expect(await of('fate=failed')).toEqual([]);
    expect(await of('direction=in&fate=queued')).toEqual([]);
    expect(await of('direction=out&fate=matched')).toEqual([]);
  });

  it('are found by the phone of either end, in every notation of the carrier', async () => {
    const phone = '+14155550123';
    const session = await newSession(phone);
    const plus = await received({ session: null, source: phone, fate: 'no_token' });
    const bare = await received({ session: null, source: phone.slice(1), fate: 'unknown_token' });
    const zeros = await received({ session: null, source: `00${phone.slice(1)}`, fate: 'no_token' });
    const national = await received({ session, source: phone.slice(2) });
    const code = await sent(session, phone);
    await received({ session, source: OTHER_PHONE, fate: 'wrong_sender' });
    const query = `phone=${encodeURIComponent(phone)}`;
    expect(await idsOf(query)).toEqual([code, national, zeros, bare, plus]);
    expect(await idsOf(`phone=${phone}&direction=out`)).toEqual([code]);
    expect(await idsOf(`${query}&fate=no_token`)).toEqual([zeros, plus]);
    expect(await idsOf(`${query}&fate=matched&sessionId=${session}`)).toEqual([national]);
    expect(await idsOf('phone=%2B14155550999')).toEqual([]);
  });

  it.each([
    ['direction=up', 'direction'],
    ['sessionId=x', 'sessionId'],
    ['sessionId=msg_00000000000000000000000000', 'sessionId'],
    ['phone=14155550123', 'phone'],
    ['phone=%2B1%00', 'phone'],
    ['fate=lost', 'fate'],
    ['limit=101', 'limit'],
    ['startingAfter=x', 'startingAfter'],
    ['text=1', 'text'],
  ])('are not listed with %s', async (query, field) => {
    const answer = await admin.get(`messages?${query}`);
    expect([answer.status, answer.field]).toEqual([422, field]);
  });

  it('are for the admin key alone, and are never written by hand', async () => {
    const id = await received();
    expect((await harness.call('/v1/admin/messages')).code).toBe('FORBIDDEN');
    expect((await harness.call(`/v1/admin/messages/${id}/reveal`, { method: 'POST' })).code).toBe('FORBIDDEN');
    expect((await admin.post('messages', {})).status).toBe(405);
    expect((await admin.delete(`messages/${id}`)).status).toBe(405);
    expect((await admin.get('messages/msg_00000000000000000000000000')).code).toBe('NOT_FOUND');
  });
});

describe('the text of a message', () => {
  it('is read by an audited action, whose entry does not have the text', async () => {
    const id = await received();
    const shown = (await admin.get(`messages/${id}`)).json;
    const answer = await admin.post(`messages/${id}/reveal`);
    expect([answer.status, answer.json]).toEqual([202, { ...shown, text: TEXT }]);
    await admin.post(`messages/${id}/reveal`);
    const notes = (await admin.notes(id)).filter(({ action }) => action === 'reveal');
    expect(notes).toMatchObject(Array(2).fill({ actor: 'root', action: 'reveal', resource: 'messages', after: shown }));
    expect(notes[0]?.requestId).toBe(answer.headers['x-request-id']);
    expect(await admin.log()).not.toContain('secret');
    expect(harness.log.join('')).not.toContain(TEXT);
  });

  it('of a code is stored until the code is submitted', async () => {
    const id = await sent();
    expect((await admin.post(`messages/${id}/reveal`)).json['text']).toBe('123456 is your code.');
    await harness.database.query(
      `UPDATE outbound_messages SET state = 'submitted', next_attempt_at = NULL, text_sealed = NULL WHERE id = $1`,
      [parseId('msg', id)],
    );
    expect((await admin.post(`messages/${id}/reveal`)).json).toMatchObject({ id, text: null });
    expect(await admin.notes(id)).toHaveLength(2);
  });

  it('of no message is not found', async () => {
    const answer = await admin.post('messages/msg_00000000000000000000000000/reveal');
    expect([answer.status, answer.code]).toEqual([404, 'NOT_FOUND']);
  });
});
