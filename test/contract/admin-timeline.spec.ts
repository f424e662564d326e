import { openPubSub, type PubSub } from '@countersign/bus';
import { CarrierStore } from '@countersign/carriers/config';
import { MessageStore, type MessageFate } from '@countersign/carriers/inbound';
import { BindLeaseStore, GatewayStore } from '@countersign/carriers/leases';
import { newId, parseId, renderId, type Uuid } from '@countersign/ids';
import { encodePdu } from '@countersign/smpp/codec';
import { deliverSm } from '@countersign/smpp/pdu';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FlightRecorder } from '../../apps/gateway/src/recorder/flight-recorder.js';
import { TraceResponder } from '../../apps/gateway/src/recorder/trace-responder.js';
import { AdminCalls, dataOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, PHONE, type Answer } from '../support/control-plane-harness.js';
import { OtpHarness } from '../support/otp-harness.js';
import { PlayedGateway } from '../support/played-gateway.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const SOON_MS = 20_000;
const MASKED = '+141******71';

let home: OtpHarness;
let harness: ControlPlaneHarness;
let admin: AdminCalls;
let bus: PubSub;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  // Queue and bus on the harness's own PostgreSQL: no gateway of another test consumes its notifications.
  home = await OtpHarness.open({ REDIS_URL: '' });
  ({ harness } = home);
  admin = new AdminCalls(harness);
  bus = openPubSub({ redisUrl: null, databaseUrl: harness.environment['DATABASE_URL'] ?? '' }, () => undefined);
  await home.forget();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(async () => {
  await bus.close();
  await home.close();
});

interface Shown {
  readonly at: string;
  readonly type: string;
  readonly source: string;
  readonly summary: string;
  readonly details: Readonly<Record<string, unknown>>;
}

const timeline = (id: string, by: AdminCalls = admin): Promise<Answer> => by.get(`sessions/${id}/timeline`);
const entriesOf = (answer: Answer): readonly Shown[] => dataOf(answer) as unknown as readonly Shown[];
const typesOf = (answer: Answer): string[] => entriesOf(answer).map(({ type }) => type);
const entryOf = (answer: Answer, type: string): Shown | undefined =>
  entriesOf(answer).find((each) => each.type === type);

async function receiver(...statuses: number[]): Promise<Receiver> {
  const started = await startReceiver();
  started.answerWith(...statuses);
  closing.push(() => started.close());
  return started;
}

interface Mo {
  readonly fate: MessageFate;
  readonly source?: string;
  readonly linkId?: Uuid;
}

/** Stores MOs that name a session, as a gateway does. */
async function received(sessionId: string, mos: readonly Mo[]): Promise<void> {
  const rows = mos.map(({ fate, source = PHONE, linkId = harness.clock.newId() }) => {
    const id = newId(Math.floor(harness.clock.nowMs()));
    const addresses = { source, sourceTon: 1, sourceNpi: 1, destination: '60606', dataCoding: 0 };
    const textSealed = harness.keys.seal('message-text', 'AUTH-ACME-secret', id);
    const of = { sessionId: parseId('sess', sessionId), accountId: home.accountId };
    return { id, carrier: 'north', linkId, ...addresses, textSealed, part: null, fate, ...of };
  });
  await new MessageStore().insertInbound(harness.database, rows);
}

describe('GET /v1/admin/sessions/{id}/timeline', () => {
  it('tells why a code did not arrive: each bind that had it, and what it answered', async () => {
    const { id, code } = await home.withCode();
    const [{ id: messageId } = { id: '' }] = await home.messagesOf(id);
    const [bind] = await harness.database.query<{ id: Uuid }>(`SELECT id FROM binds WHERE name = 'out'`);
    const attempt = (n: number, rest: object) => ({
      n,
      startedAt: new Date(harness.clock.nowMs() + n).toISOString(),
      gateway: harness.clock.newId(),
      bind: bind?.id,
      slot: 0,
      ...rest,
    });
    await harness.database.query(
      `UPDATE outbound_messages SET attempts = 2, attempt_log = $2::jsonb, state = 'undelivered', text_sealed = NULL,
         next_attempt_at = NULL, network_error = '027', ended_at = clock_timestamp() + interval '5 ms' WHERE id = $1`,
      [
        messageId,
        JSON.stringify([
          attempt(1, { outcome: 'throttled', error: 'ESME_RTHROTTLED' }),
          attempt(2, { outcome: 'submitted', smscMessageId: 'a1' }),
        ]),
      ],
    );
    const answer = await timeline(id);
    expect(answer.status).toBe(200);
    expect(typesOf(answer)).toEqual([
      'session.created',
      'code.requested',
      'code.attempt',
      'code.attempt',
      'code.receipt',
    ]);
    expect(entriesOf(answer).map(({ summary }) => summary)).toMatchObject([
      expect.stringContaining(PHONE),
      `A code to ${PHONE} was requested.`,
      'Attempt 1 over bind out, connection 0 got a temporary error status (ESME_RTHROTTLED).',
      'Attempt 2 over bind out, connection 0 was accepted by the carrier (ESME_ROK).',
      'The carrier reported the code as undelivered: 027.',
    ]);
    expect(entriesOf(answer)[2]?.details).toMatchObject({
      messageId: renderId('msg', messageId),
      attempt: 1,
      linkId: renderId('bind', bind?.id ?? ''),
      commandStatus: 'ESME_RTHROTTLED',
    });
    expect(answer.json).toMatchObject({ sessionId: id, truncated: false });
    expect(answer.text).not.toContain(code);
  });

  it('has the checks, the approval, the broadcast of its event and each attempt of its webhook', async () => {
    const { url, received: posts } = await receiver(500);
    const { id, code, wrong } = await home.withCode({ webhookUrl: `${url}?key=hidden` });
    await home.check(id, wrong);
    expect((await home.check(id, code)).json).toMatchObject({ status: 'approved' });
    await until('the webhook was sent twice', SOON_MS, () => posts.length === 2);
    await until(
      'both attempts are recorded',
      SOON_MS,
      async () =>
        typesOf(await timeline(id)).includes('webhook.attempt') &&
        entriesOf(await timeline(id)).filter(({ type }) => type === 'webhook.attempt').length === 2,
    );
    const answer = await timeline(id);
    expect(entryOf(answer, 'code.checks')?.details).toEqual({ checks: 2, limit: 5, accepted: true });
    expect(entryOf(answer, 'session.approved')).toMatchObject({
      source: 'rest',
      summary: 'The session was approved by a code.',
    });
    expect(entryOf(answer, 'event.broadcast')?.details).toMatchObject({ type: 'verification.completed' });
    const attempts = entriesOf(answer).filter(({ type }) => type === 'webhook.attempt');
    expect(attempts.map(({ details }) => details['status'])).toEqual([500, 200]);
    const times = entriesOf(answer).map(({ at }) => at);
    expect(times).toEqual([...times].sort());
    const session = (await harness.call(`/v1/verify/${id}`)).json;
    for (const secret of [code, wrong, 'hidden', 'authEntropy', 'fallbackUri', 'AUTH-', String(session['authEntropy'])])
      expect(answer.text).not.toContain(secret);
  });

  it('has each SMS that named it with its fate, and its PDU while a trace of its bind has it, without its text', async () => {
    const id = await home.created();
    const carriers = new CarrierStore({ keys: harness.keys, newId: () => harness.clock.newId() });
    const hosts = [{ host: '127.0.0.1', port: 1 }];
    const bind = { name: 'traced', carrier: 'north', hosts, systemId: 'x', password: 'x' };
    const { id: bindId } = await carriers.createBind(harness.database, bind);
    const gatewayId = harness.clock.newId();
    await new GatewayStore().recordHeartbeat(harness.database, { id: gatewayId, host: 'g', version: '1' }, false);
    await new BindLeaseStore().survey(harness.database);
    await new BindLeaseStore().claimSlots(harness.database, gatewayId, [{ bindId, slot: 0 }]);
    const recorder = new FlightRecorder(harness.clock);
    const responder = new TraceResponder(gatewayId, recorder, bus, harness.keys);
    closing.push(() => responder.close());
    await responder.ready;
    const end = { address: '127.0.0.1', port: 1 };
    const tap = recorder.tap({
      bindId,
      slot: 0,
      ends: { local: end, remote: end },
      fullUntil: () => new Date(harness.clock.nowMs() + 60_000),
    });
    const from = (value: string) =>
      encodePdu({
        ...deliverSm({ sourceAddress: { ton: 1, npi: 1, value }, shortMessage: Buffer.from('AUTH-ACME-secret') }),
        sequence: 7,
      });
    tap('in', from(PHONE));
    tap('in', from('+442071838750'));
    await received(id, [
      { fate: 'wrong_sender', source: '+442071838750', linkId: bindId },
      { fate: 'matched', linkId: bindId },
      { fate: 'duplicate', source: '+15005550001' },
    ]);
    const answer = await timeline(id);
    const messages = entriesOf(answer).filter(({ type }) => type === 'message.received');
    // Those of one millisecond have no order.
    const byFate = new Map(messages.map(({ details }) => [details['fate'], details]));
    expect(messages).toHaveLength(3);
    const pdu = { direction: 'in', command: 'deliver_sm', sequence: 7, octets: '' };
    const linkId = renderId('bind', bindId);
    expect(byFate.get('wrong_sender')).toMatchObject({ linkId, pdu });
    expect(byFate.get('matched')).toMatchObject({ pdu: { fields: { sourceAddress: { value: PHONE } } } });
    expect(byFate.get('duplicate')).toMatchObject({ pdu: null });
    expect(answer.text).not.toContain('secret');
    expect(answer.text).not.toContain(Buffer.from('AUTH-ACME').toString('hex'));
    const viewed = await timeline(id, await admin.colleague('viewer', 'pdu viewer'));
    for (const phone of [PHONE, PHONE.slice(1), '442071838750', '15005550001'])
      expect(viewed.text).not.toContain(phone);
    expect(viewed.text).toContain(MASKED);
    const seen = (viewed.json['data'] as { type: string; details: { pdu?: unknown } }[]).filter(
      ({ type }) => type === 'message.received',
    );
    expect(seen.filter(({ details }) => details.pdu !== null)).not.toEqual([]);
  });

  it('has the SMS that approved it before the approval, though its row is written later', async () => {
    const { id, code } = await home.withCode();
    await home.check(id, code);
    await received(id, [{ fate: 'matched' }, { fate: 'duplicate' }]);
    const answer = await timeline(id);
    const fates = entriesOf(answer).flatMap(({ type, details }) =>
      type === 'session.approved' ? ['approved'] : type === 'message.received' ? [details['fate']] : [],
    );
    expect(fates).toEqual(['matched', 'approved', 'duplicate']);
    const times = entriesOf(answer).map(({ at }) => at);
    expect(times).toEqual([...times].sort());
  });

  it('has the guard’s refusals of its codes, by rule', async () => {
    await harness.database.query(`UPDATE accounts SET otp_countries = '{US}'`);
    const id = await home.created({ phone: '+447911123456' });
    const other = await home.created({ phone: '+447911123456' });
    for (const session of [id, id, other]) expect((await home.send(session)).code).toBe('DESTINATION_BLOCKED');
    await harness.database.query(`UPDATE accounts SET otp_countries = '{*}'`);
    const answer = await timeline(id);
    expect(entryOf(answer, 'code.refused')).toMatchObject({
      source: 'guard',
      summary: 'The guard refused to send a code 2 times, by its rule country.',
      details: { rule: 'country', refused: 2 },
    });
  });

  it('has its card, the events of the platform and the tap', async () => {
    const { accountId } = harness.demo;
    const texts = { name: 'Acme', slug: 'CARDS', instruction: 'Send this message.' };
    const brand = await admin.post('brands', { accountId, ...texts, rcsAgentId: 'acme_agent@rbm.goog' });
    const { database, clock, keys, sessions } = harness;
    const gateway = new PlayedGateway({ database, clock, keys, sessions, bus });
    const created = harness.create({ brandId: brand.json['id'], phone: '+14155550190' });
    const card = await gateway.claimOffered('+14155550190', created);
    if (card === null) throw new Error('no card was offered');
    await gateway.sent(card);
    await gateway.receiveEvent(card, 'delivered');
    const id = String((await created).json['id']);
    await gateway.receiveEvent(card, 'tap', { kind: 'deny' });
    const answer = await timeline(id);
    expect(typesOf(answer).slice(0, 5)).toEqual([
      'session.created',
      'card.offered',
      'card.sent',
      'card.delivered',
      'card.tap',
    ]);
    expect(entryOf(answer, 'card.tap')).toMatchObject({ source: 'rcs', details: { choice: 'deny' } });
    expect(entryOf(answer, 'session.denied')).toMatchObject({ source: 'rcs' });
  });

  it('has the expiry, the cancellation and the consumption', async () => {
    const expired = await home.created();
    await home.age(expired);
    expect(entryOf(await timeline(expired), 'session.expired')).toMatchObject({ source: 'clock' });
    const cancelled = await home.created();
    await harness.call(`/v1/verify/${cancelled}`, { method: 'DELETE' });
    expect(entryOf(await timeline(cancelled), 'session.cancelled')).toMatchObject({ source: 'rest' });
    const { id, code } = await home.withCode();
    await home.check(id, code);
    await harness.call(`/v1/verify/${id}/consume`, { method: 'POST' });
    expect(typesOf(await timeline(id))).toContain('session.consumed');
  });

  it('is bounded, and says so', async () => {
    const id = await home.created();
    await received(
      id,
      Array.from({ length: 101 }, () => ({ fate: 'duplicate' as const })),
    );
    const answer = await timeline(id);
    expect(answer.json['truncated']).toBe(true);
    expect(typesOf(answer).filter((type) => type === 'message.received')).toHaveLength(100);
  });

  it('is audited for roles that see people’s data, and masked for others', async () => {
    const { id } = await home.withCode();
    const viewer = await admin.colleague('viewer');
    const support = await admin.colleague('support');
    const viewed = await timeline(id, viewer);
    expect(viewed.status).toBe(200);
    for (const phone of [PHONE, PHONE.slice(1)]) expect(viewed.text).not.toContain(phone);
    expect(entryOf(viewed, 'session.created')?.details).toMatchObject({ phone: MASKED });
    expect(await admin.notes(id)).toEqual([]);
    expect((await timeline(id, support)).text).toContain(PHONE);
    expect(await admin.notes(id)).toMatchObject([
      { actor: 'support', action: 'read-timeline', resource: 'sessions', before: null, after: null },
    ]);
  });

  it('is of every account and mode for engineers, and of nobody else', async () => {
    const test = String((await harness.create({}, home.withTestKey)).json['id']);
    expect(typesOf(await timeline(test))).toEqual(['session.created']);
    expect((await harness.call(`/v1/admin/sessions/${test}/timeline`)).code).toBe('FORBIDDEN');
    expect((await harness.call(`/v1/admin/sessions/${test}/timeline`, { key: null })).code).toBe('UNAUTHORIZED');
    expect((await timeline('sess_00000000000000000000000000')).code).toBe('NOT_FOUND');
    expect((await timeline('x')).code).toBe('NOT_FOUND');
  });
});
