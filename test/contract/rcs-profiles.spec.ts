import { findCards, type CardRecord } from '@countersign/rcs/offers';
import { parseId } from '@countersign/ids';
import { GatewaySettings, loadSettings } from '@countersign/settings';
import { createLogger } from '@countersign/telemetry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../apps/gateway/src/gateway.js';
import { freePort } from '../../config/stack/postgres.mjs';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { RbmHarness } from '../support/rbm-harness.js';
import { until } from '../support/until.js';

const AGENT = 'acme_agent';
const WITHIN_MS = 20_000;
const TRIES = 5;

let platform: RbmHarness;
let harness: ControlPlaneHarness;
/** Another control plane, which does not wait for deliveries. */
let hasty: { readonly baseUrl: string; readonly stop: () => Promise<void> };
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  platform = await RbmHarness.open();
  harness = await ControlPlaneHarness.open({ RCS_DELIVERY_WAIT_MS: '5000', RCS_UNREACHABLE_SECONDS: '0' });
  await harness.database.query('UPDATE brands SET rcs_agent_id = $1', [AGENT]);
  hasty = await harness.neighbour({ RCS_DELIVERY_WAIT_MS: '0' });
  stops.push(hasty.stop);
  for (const name of ['north', 'south']) stops.push(await gateway(name));
});
afterAll(async () => {
  await platform.close();
  for (const stop of stops) await stop();
  await harness.close();
});

async function gateway(name: string): Promise<() => Promise<void>> {
  const httpPort = await freePort();
  const settings = loadSettings(GatewaySettings, {
    ...harness.ofGateway,
    ...(await platform.environment(name)),
    GATEWAY_HTTP_PORT: String(httpPort),
    GATEWAY_SMPP_PORT: String(await freePort()),
    GATEWAY_SMPP_TLS_PORT: String(await freePort()),
    GATEWAY_OPS_PORT: String(await freePort()),
  });
  const shutdown = await startGateway(settings, createLogger({ app: 'gateway', level: 'silent' }), () => undefined);
  platform.listensAt(name, httpPort);
  return () => shutdown.run('the test is over');
}

/** Cards that no gateway claimed: withdrawn, or written too late for their creates to wait. */
const UNTAKEN: ReadonlySet<string> = new Set(['offered', 'withdrawn']);

type Wait = 'waits' | 'does not wait';

interface Created {
  readonly json: Answer['json'];
  readonly id: string;
}

/** Repeats a create until a gateway claims its card in time, which may fail on a busy machine. */
async function create(phone: string, wait: Wait): Promise<Created> {
  for (let tries = 1; ; tries++) {
    const answer = await harness.create({ phone }, wait === 'waits' ? {} : { baseUrl: hasty.baseUrl });
    const id = String(answer.json['id']);
    const card = answer.status === 200 ? await findCard(id) : undefined;
    if (card !== undefined && !UNTAKEN.has(card.state)) return { json: answer.json, id };
    if (tries === TRIES) throw new Error(`no card of ${TRIES} went out: ${answer.text}`);
  }
}

async function findCard(sessionId: string): Promise<CardRecord | undefined> {
  const id = parseId('sess', sessionId) ?? '';
  return (await findCards(harness.database, [id])).get(id);
}

async function cardOf(sessionId: string): Promise<CardRecord> {
  const card = await findCard(sessionId);
  if (card === undefined) throw new Error('the session has no card');
  return card;
}

const reaches = (id: string, status: string): Promise<void> =>
  until(`the session is ${status}`, WITHIN_MS, async () => {
    return (await harness.call(`/v1/verify/${id}`)).json['status'] === status;
  });

/** The messages of a card; the text that closes it is the last. */
const messages = (phone: string): ReturnType<RbmHarness['messages']> => platform.messages(phone);

describe('the channel of a create', () => {
  // Failing and successful sends alternate: five failures in a row at one gateway would open its breaker.
  it.each([
    ['has no RCS', '0404', 'sms_fallback', 'sms_fallback'],
    ['is throttled', '0429', 'sms_fallback', 'sms_fallback'],
    ['is online, and gets it after 300 ms', '0200', 'rcs', 'sms_fallback'],
    ['is met by a platform that fails', '0503', 'sms_fallback', 'sms_fallback'],
    ['is offline', '0500', 'sms_fallback', 'sms_fallback'],
    ['gets it while its send is not answered', '0599', 'rcs', 'rcs'],
    ['gets it in spite of the revoke', '0410', 'sms_fallback', 'sms_fallback'],
  ])('to a phone that %s', async (_, ending, waiting, hurried) => {
    for (const [wait, channel, phone] of [
      ['waits', waiting, `+1415555${ending}`],
      ['does not wait', hurried, `+1415556${ending}`],
    ] as const) {
      // Before the send times out, also on a busy machine.
      if (ending === '0599') platform.phone(phone, { deliverAfterMs: 0 });
      const { json, id } = await create(phone, wait);
      expect(json, wait).toMatchObject({ status: 'pending', channel });
      expect(json['fallbackUri'] === null, wait).toBe(channel === 'rcs');
      expect(await cardOf(id), wait).toMatchObject({ finalChannel: channel });
      expect((await harness.call(`/v1/verify/${id}`)).json).toMatchObject({
        channel,
        fallbackUri: json['fallbackUri'],
      });
    }
  });
});

describe('a card with both a delivery event and an expiry event', () => {
  it('falls to RCS or to SMS by the first event, and its tap counts', async () => {
    const phone = '+14155550301';
    const { json, id } = await create(phone, 'waits');
    expect(json['fallbackUri'] === null).toBe(json['channel'] === 'rcs');
    expect(await cardOf(id)).toMatchObject({ finalChannel: json['channel'] });
    await until('it is on the phone', WITHIN_MS, () => messages(phone)[0]?.state === 'delivered');
    platform.rbm.platform.tap(messages(phone)[0]?.messageId ?? '', 0);
    await reaches(id, 'approved');
    expect((await harness.call(`/v1/verify/${id}`)).json['channel']).toBe(json['channel']);
  });
});

describe('a withdrawn card', () => {
  it.each(['waits', 'does not wait'] as const)('is revoked where the create %s', async (wait) => {
    const phone = wait === 'waits' ? '+14155570500' : '+14155580500';
    const { id } = await create(phone, wait);
    await until('it is revoked', WITHIN_MS, () => messages(phone).at(-1)?.state === 'revoked');
    await until('no command is left', WITHIN_MS, async () => (await cardOf(id)).command === null);
  });

  it.each(['always200', 'strict'] as const)(
    'and arrived in spite of it counts, with revokes of the kind %s',
    async (mode) => {
      platform.rbm.set({ revokeMode: mode });
      const phone = mode === 'strict' ? '+14155570410' : '+14155580410';
      const { json, id } = await create(phone, 'waits');
      expect(json['channel']).toBe('sms_fallback');
      await until('it is on the phone', WITHIN_MS, () => messages(phone).at(-1)?.state === 'delivered');
      platform.rbm.platform.tap(messages(phone).at(-1)?.messageId ?? '', 0);
      await reaches(id, 'approved');
      expect((await harness.call(`/v1/verify/${id}`)).json['channel']).toBe('sms_fallback');
      platform.rbm.set({ revokeMode: 'always200' });
    },
  );
});

describe('a tap', () => {
  it('within the wait is not in the answer of the create, which is pending, and is there a moment later', async () => {
    const phone = '+14155600200';
    platform.phone(phone, { autoTap: 'approve', tapAfterMs: 0 });
    const { json, id } = await create(phone, 'waits');
    expect(json).toMatchObject({ status: 'pending', channel: 'rcs' });
    await reaches(id, 'approved');
    const webhookPosts = platform.webhookPosts.filter(({ sender }) => sender !== undefined);
    expect(webhookPosts.every(({ to, sender }) => to !== sender)).toBe(true);
  });

  it('changes nothing once the caller has cancelled', async () => {
    const phone = '+14155590200';
    platform.phone(phone, { deliverAfterMs: 0 });
    const { json, id } = await create(phone, 'waits');
    expect(json['channel']).toBe('rcs');
    expect((await harness.call(`/v1/verify/${id}`, { method: 'DELETE' })).status).toBe(204);
    platform.rbm.platform.tap(messages(phone)[0]?.messageId ?? '', 0);
    await until('the tap was too late', WITHIN_MS, async () => {
      const rows = await harness.database.query<{ outcome: string | null }>(
        `SELECT outcome FROM card_events WHERE card_id = $1 AND kind = 'tap'`,
        [parseId('sess', id)],
      );
      return rows.some(({ outcome }) => outcome !== null);
    });
    expect((await harness.call(`/v1/verify/${id}`)).json['status']).toBe('cancelled');
  });
});
