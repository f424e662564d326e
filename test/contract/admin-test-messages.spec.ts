import { MAX_AN_HOUR } from '@countersign/carriers/test-messages';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf, idOf } from '../support/admin-calls.js';
import { Carrier } from '../support/carrier.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { GatewayBeside } from '../support/gateway-beside.js';
import { until } from '../support/until.js';

const PHONE = '+14155552671';
const BOUND_WITHIN_MS = 30_000;

const north = new Carrier('north');
/** Has a bind that waits for one second alone for its responses. */
const mute = new Carrier('mute');
let harness: ControlPlaneHarness;
let admin: AdminCalls;
let gateway: GatewayBeside;
let bindId: string;
let muteBindId: string;

const settings = (port: number, more: object = {}) => ({
  ...{ name: 'north', carrier: 'north', hosts: [{ host: '127.0.0.1', port }], systemId: 'us', password: 'secret08' },
  ...more,
});

async function isBound(id: string): Promise<boolean> {
  return ((await admin.get(`binds/${id}`)).json['status'] as { readonly state: string }).state === 'bound';
}

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  bindId = idOf(await admin.post('binds', settings(await north.listen())));
  muteBindId = idOf(
    await admin.post('binds', settings(await mute.listen(), { name: 'mute', responseTimeoutSeconds: 1 })),
  );
  gateway = await GatewayBeside.start(harness);
  await until('the API shows the binds as bound', BOUND_WITHIN_MS, async () => {
    return (await isBound(bindId)) && (await isBound(muteBindId));
  });
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await harness.close();
  await Promise.all([north.close(), mute.close()]);
});
beforeEach(async () => {
  north.script.length = 0;
  await harness.database.query('DELETE FROM test_messages');
});

const send = (body: object = {}, bind = bindId): Promise<Answer> =>
  admin.post(`binds/${bind}/test-messages`, { to: PHONE, from: '60606', ...body });

describe('a test message', () => {
  it('is sent over the bind with a fixed text, and answered with what the carrier responded', async () => {
    const { status, json } = await send();
    expect([status, json]).toEqual([
      200,
      {
        ...{ state: 'accepted', error: null, smscMessageId: north.idOf(north.submits.length - 1), slot: 0 },
        ...{ from: '60606', sentAt: expect.any(String) as string, answeredAt: expect.any(String) as string },
        text: expect.stringMatching(
          /^Test message [0-9A-F]{4} of Countersign, \S+ \S+ UTC\. No action is needed\.$/,
        ) as string,
      },
    ]);
    const submit = north.submits.at(-1);
    expect(submit).toMatchObject({ destination_addr: PHONE.slice(1), source_addr: '60606' });
    expect((submit?.short_message as { readonly message: string }).message).toBe(json['text']);
  });

  it('has a number of ours as its sender by default', async () => {
    const numbers = dataOf(await admin.get('inbound-numbers')).map(({ number }) => number);
    const { json } = await admin.post(`binds/${bindId}/test-messages`, { to: PHONE });
    expect(numbers).toContain(json['from']);
  });

  it('is refused with the status of the carrier', async () => {
    north.script.push(() => ({ command_status: 0x0b }));
    expect((await send()).json).toMatchObject({ state: 'refused', error: 'ESME_RINVDSTADR', smscMessageId: null });
  });

  it('is unanswered without a response of the carrier', async () => {
    mute.script.push(() => 'mute');
    const waiting = send({}, muteBindId);
    await until('it is sent', BOUND_WITHIN_MS, () => Promise.resolve(mute.submits.length > 0));
    // Meanwhile another bind is tried.
    expect((await send()).json).toMatchObject({ state: 'accepted' });
    expect((await waiting).json).toMatchObject({ state: 'unanswered', error: 'NO_ANSWER', answeredAt: null });
  });

  it('is in the audit log with the phone masked, and its row has none after the result', async () => {
    await send();
    const [note] = dataOf(await admin.get(`audit?resource=binds&resourceId=${bindId}&limit=1`));
    expect(note).toMatchObject({ action: 'send-test', before: null, after: { from: '60606' } });
    expect(JSON.stringify(note)).not.toContain(PHONE.slice(4, 9));
    const rows = await harness.database.query('SELECT phone FROM test_messages');
    expect(rows).toEqual([{ phone: '' }]);
  });

  it('is refused when the hour has had as many as may be, also at once', async () => {
    const answers = await Promise.all(Array.from({ length: MAX_AN_HOUR + 3 }, () => send()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(MAX_AN_HOUR);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ json }) => json['error'])).toMatchObject(refused.map(() => ({ code: 'RATE_LIMITED' })));
    expect(refused).toHaveLength(3);
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(3_000);
  }, 60_000);

  it('is not sent where the options of the bind, which operators write, lead to another number', async () => {
    const rewrite = [{ of: 'destination', match: PHONE, exact: true, replace: '+881632000000' }];
    expect((await admin.patch(`binds/${bindId}`, { submitOptions: { rewrite } })).status).toBe(200);
    try {
      await until('the gateway has read the change', BOUND_WITHIN_MS, async () => {
        await harness.database.query('DELETE FROM test_messages');
        return (await send()).json['state'] === 'not_sent';
      });
      const before = north.submits.length;
      expect((await send()).json).toMatchObject({ state: 'not_sent', sentAt: null });
      expect(north.submits).toHaveLength(before);
    } finally {
      await admin.patch(`binds/${bindId}`, { submitOptions: {} });
    }
  });

  it.each([
    ['a number that cannot exist', { to: '+1' }, 'INVALID_PHONE'],
    ['a magic test number', { to: '+15005550001' }, 'INVALID_PHONE'],
    ['a premium number', { to: '+19002345678' }, 'DESTINATION_BLOCKED'],
    ['a sender that is none', { from: 'not a sender' }, 'VALIDATION_ERROR'],
    ['a text of the caller’s own', { text: 'Win a prize' }, 'VALIDATION_ERROR'],
  ])('is refused to or with %s', async (_what, body, code) => {
    const before = north.submits.length;
    expect((await send(body)).json['error']).toMatchObject({ code });
    expect(north.submits).toHaveLength(before);
  });

  it('is refused for a bind that cannot send, and for an unknown one', async () => {
    const receiver = idOf(await admin.post('binds', settings(9, { name: 'receiver', bindType: 'receiver' })));
    const unbound = idOf(await admin.post('binds', settings(9, { name: 'unbound' })));
    const disabled = idOf(await admin.post('binds', settings(9, { name: 'disabled', enabled: false })));
    for (const bind of [receiver, unbound, disabled])
      expect((await send({}, bind)).json['error']).toMatchObject({ code: 'CONFLICT' });
    expect((await send({}, 'bind_00000000000000000000000000')).status).toBe(404);
    expect(await harness.database.query('SELECT FROM test_messages')).toEqual([]);
  });
});
