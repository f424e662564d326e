import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { GatewayBeside } from '../support/gateway-beside.js';
import { sms } from '../support/gateway-harness.js';
import { RbmHarness } from '../support/rbm-harness.js';
import { until } from '../support/until.js';

const AGENT = 'acme_agent';
const OTHER_CHALLENGE = 'cd'.repeat(32);
const WITHIN_MS = 20_000;

let harness: ControlPlaneHarness;
let platform: RbmHarness;
let gateway: GatewayBeside;
let clientToken: string;
/** A brand that sends cards. */
let brandId: string;

beforeAll(async () => {
  platform = await RbmHarness.open();
  const environment = await platform.environment('gateway');
  clientToken = environment['RBM_CLIENT_TOKEN'] ?? '';
  // A long wait for cards, because the machine may be busy.
  harness = await ControlPlaneHarness.open({ RCS_DELIVERY_WAIT_MS: '8000' });
  gateway = await GatewayBeside.start(harness, environment);
  platform.listensAt('gateway', gateway.ports.http);
  const { accountId } = harness.demo;
  const texts = { accountId, name: 'Acme', slug: 'CARDS', instruction: 'Send this message.' };
  brandId = String((await new AdminCalls(harness).post('brands', { ...texts, rcsAgentId: AGENT })).json['id']);
});
afterAll(async () => {
  await platform.close();
  await gateway.stop();
  await harness.close();
});

const textOf = ({ json }: Answer): string => decodeURIComponent(String(json['fallbackUri']).split('?body=')[1] ?? '');
const idOf = ({ json }: Answer): string => String(json['id']);
const statusOf = async (id: string): Promise<unknown> => (await harness.call(`/v1/verify/${id}`)).json['status'];

describe('A7 a session that another person opened for the phone', () => {
  it('A7 the message of one session approves that one alone, and the answer names the browser that began it', async () => {
    await gateway.system({ systemId: 'carrier' });
    const carrier = await gateway.esme('carrier');
    const own = await harness.create({ channel: 'sms_fallback' });
    const attack = await harness.create({ channel: 'sms_fallback', clientChallenge: OTHER_CHALLENGE });
    expect((await carrier.send('submit_sm', sms(textOf(own)))).command_status).toBe(0);
    expect([await statusOf(idOf(own)), await statusOf(idOf(attack))]).toEqual(['approved', 'pending']);
    // A caller that compares the browser's challenge with this one detects an approval of another user.
    expect((await harness.call(`/v1/verify/${idOf(own)}`)).json['clientChallenge']).toBe('ab'.repeat(32));
    expect((await harness.call(`/v1/verify/${idOf(attack)}`)).json['clientChallenge']).toBe(OTHER_CHALLENGE);
  });

  it('A7 the message says for whom it is, on a line that the phone shows before it is sent', async () => {
    const text = textOf(await harness.create({ channel: 'sms_fallback' }));
    expect(text).toMatch(/^AUTH-ACME-\w{16}\nSend this message to sign in to Acme\.$/);
  });

  it('A7 an approval is used once, where the caller consumes it', async () => {
    const id = idOf(await harness.create({ channel: 'sms_fallback' }));
    await harness.approve(id);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => harness.call(`/v1/verify/${id}/consume`, { method: 'POST' })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ code }) => code === 'SESSION_CONSUMED')).toHaveLength(19);
  });

  it('A7 of 30 sessions for a phone at the same time 20 are opened; cancelled ones make no room for more', async () => {
    const { baseUrl, stop } = await harness.neighbour({ LIVE_SESSIONS_PER_PHONE: '20' });
    const open = (changes = {}, call = {}): Promise<Answer> =>
      harness.create({ phone: '+14155570099', channel: 'sms_fallback', ...changes }, { baseUrl, ...call });
    const before = await harness.countSessions();
    try {
      const answers = await Promise.all(Array.from({ length: 30 }, () => open()));
      const opened = answers.filter(({ status }) => status === 200);
      expect([opened.length, await harness.countSessions()]).toEqual([20, before + 20]);
      for (const { status, code, headers } of answers.filter((answer) => !opened.includes(answer))) {
        expect([status, code]).toEqual([429, 'RATE_LIMITED']);
        expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      }
      await Promise.all(
        opened.map((answer) => harness.call(`/v1/verify/${idOf(answer)}`, { method: 'DELETE', baseUrl })),
      );
      expect((await open()).status).toBe(429);
      expect((await open({ phone: '+14155570098' })).status).toBe(200);
      expect((await open({}, { key: harness.demo.testApiKey })).status).toBe(200);
    } finally {
      await stop();
    }
  });
});

/** Posts a platform event, signed with that token. */
async function post(event: object, token: string | null): Promise<number> {
  const data = Buffer.from(JSON.stringify(event));
  const signature = token === null ? undefined : createHmac('sha512', token).update(data).digest('base64');
  const response = await fetch(`http://127.0.0.1:${gateway.ports.http}/rcs/webhook`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(signature === undefined ? {} : { 'x-goog-signature': signature }),
    },
    body: JSON.stringify({ message: { data: data.toString('base64'), messageId: '1' }, subscription: 's' }),
  });
  await response.text();
  return response.status;
}

let names = 0;
const tap = (phone: string, postbackData: string): object => ({
  agentId: AGENT,
  senderPhoneNumber: phone,
  eventId: `forged-${(names += 1)}`,
  messageId: `forged-${names}`,
  sendTime: new Date().toISOString(),
  suggestionResponse: { postbackData, text: 'Approve', type: 'REPLY' },
});

const handled = (): Promise<void> =>
  until('every event is handled', WITHIN_MS, async () => {
    const waiting = await harness.database.query('SELECT 1 FROM card_events WHERE handled_at IS NULL');
    return waiting.length === 0;
  });

describe('A8 sending cards until one is approved, or answering in place of a person', () => {
  it('A8 12 sessions at the same time bring a phone 3 cards', async () => {
    const phone = '+14155570001';
    platform.phone(phone, {});
    const made = await Promise.all(
      Array.from({ length: 12 }, () => harness.create({ brandId, phone, channel: 'rcs' })),
    );
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 200));
    expect(platform.messages(phone).length).toBeGreaterThan(0);
    expect(platform.messages(phone).length).toBeLessThanOrEqual(3);
    expect(made.filter(({ json }) => json['channel'] === 'sms_fallback').length).toBeGreaterThanOrEqual(9);
  });

  it('A8 an answer that the platform did not sign, or that holds no proof of the card, approves nothing', async () => {
    const phone = '+14155570002';
    platform.phone(phone, {});
    const made = await harness.create({ brandId, phone, channel: 'rcs' });
    expect(made.json['channel']).toBe('rcs');
    const id = idOf(made);
    const forged = `v1.a.${id}.${'0'.repeat(32)}`;
    expect([400, 401]).toContain(await post(tap(phone, forged), null));
    expect(await post(tap(phone, forged), 'another-token')).toBe(401);
    // Signed, as by a compromised platform or a leaked token: the secret in the card is a second proof.
    expect(await post(tap(phone, forged), clientToken)).toBe(200);
    await handled();
    expect(await statusOf(id)).toBe('pending');
  });

  it('A8 the proof of one card does not answer another, nor comes from another phone', async () => {
    const [mine, theirs] = ['+14155570003', '+14155570004'];
    for (const phone of [mine, theirs]) platform.phone(phone, {});
    const own = await harness.create({ brandId, phone: mine, channel: 'rcs' });
    const victim = await harness.create({ brandId, phone: theirs, channel: 'rcs' });
    expect([own.json['channel'], victim.json['channel']]).toEqual(['rcs', 'rcs']);
    const [card] = platform.messages(theirs);
    const proofs = [...JSON.stringify(card).matchAll(/"postbackData":"([^"]+)"/g)].map(([, proof = '']) => proof);
    expect(proofs.length).toBeGreaterThanOrEqual(2);
    const stolen = (proofs[0] ?? '').replace(idOf(victim), idOf(own));
    expect(await post(tap(mine, stolen), clientToken)).toBe(200);
    for (const proof of proofs) expect(await post(tap(mine, proof), clientToken)).toBe(200);
    await handled();
    expect([await statusOf(idOf(own)), await statusOf(idOf(victim))]).toEqual(['pending', 'pending']);
  });
});
