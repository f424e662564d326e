import { parseId } from '@countersign/ids';
import { verifyWebhook } from '@countersign/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { startReceiver, type Received, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { deliveryOf, signedBy, WebhookCalls } from '../support/webhook-calls.js';

let harness: ControlPlaneHarness;
let calls: WebhookCalls;
const receivers: Receiver[] = [];

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  calls = new WebhookCalls(harness);
});
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((each) => each.close()));
});
afterAll(() => harness.close());

async function receiver(): Promise<Receiver> {
  const started = await startReceiver();
  receivers.push(started);
  return started;
}

/** As if the overlap of replaced secrets had passed. */
const secretsAreOver = (): Promise<unknown> =>
  harness.database.query(
    `UPDATE accounts SET previous_webhook_secrets_until =
       ARRAY(SELECT now() - interval '1 second' FROM unnest(previous_webhook_secrets_until))`,
  );

describe('POST /v1/webhooks/secret/rotate', () => {
  it('shows a new secret once, and both sign for a day', async () => {
    const before = harness.demo.webhookSecret;
    const calledMs = harness.clock.nowMs();
    const answer = await calls.rotate();
    expect(answer.status).toBe(200);
    const { secret, previousValidUntil } = answer.json;
    expect(Math.abs(Date.parse(String(previousValidUntil)) - calledMs - 24 * 3_600_000)).toBeLessThan(5_000);
    const target = await receiver();
    /** Another process may cache the secrets for some seconds. */
    const latest = async (holds: (posted: Received) => boolean): Promise<Received> => {
      let posted: Received | undefined;
      await until('the secrets are read anew', 10_000, async () => {
        const { id } = deliveryOf(await calls.test({ url: target.url }));
        await calls.waitForDelivery(id);
        posted = target.received.at(-1);
        return posted !== undefined && holds(posted);
      });
      if (posted === undefined) throw new Error('unreachable');
      return posted;
    };
    const both = await latest((posted) => signedBy(String(secret), posted));
    expect(signedBy(before, both)).toBe(true);
    expect(String(both.headers['webhook-signature'])).toMatch(/^v1,\S+ v1,\S+$/);
    expect(await verifyWebhook(both.body, both.headers, before)).toMatchObject({ type: 'webhook.test' });
    await secretsAreOver();
    const one = await latest((posted) => !signedBy(before, posted));
    expect(signedBy(String(secret), one)).toBe(true);
    expect(String(one.headers['webhook-signature'])).toMatch(/^v1,\S+$/);
    expect(JSON.stringify(harness.log)).not.toContain('whsec_');
  });

  it('again keeps the lifetime of each secret, and signs with the newest from then on', async () => {
    await secretsAreOver();
    const target = await receiver();
    const secrets: string[] = [];
    const ends: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const { json } = await calls.rotate();
      secrets.push(String(json['secret']));
      ends.push(Date.parse(String(json['previousValidUntil'])));
      const { id } = deliveryOf(await calls.test({ url: target.url }));
      await calls.waitForDelivery(id);
      const posted = target.received.at(-1);
      if (posted === undefined) throw new Error('unreachable');
      expect(secrets.every((secret) => signedBy(secret, posted))).toBe(true);
      expect(String(posted.headers['webhook-signature']).split(' ')).toHaveLength(turn + 2);
    }
    expect(ends).toEqual([...ends].sort((one, other) => one - other));
    expect(new Set(secrets).size).toBe(3);
  });

  it('is refused while seven replaced secrets still sign, and says when to try again', async () => {
    await secretsAreOver();
    const first = String((await calls.rotate()).json['secret']);
    await secretsAreOver();
    const answers = await Promise.all(Array.from({ length: 10 }, () => calls.rotate()));
    const secrets = answers.flatMap(({ status, json }) => (status === 200 ? [String(json['secret'])] : []));
    expect(new Set(secrets).size).toBe(7);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ status, code }) => [status, code])).toEqual(Array(3).fill([429, 'RATE_LIMITED']));
    for (const { headers } of refused) {
      expect(Number(headers['retry-after'])).toBeGreaterThan(24 * 3_600 - 60);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(24 * 3_600);
    }
    const target = await receiver();
    await calls.waitForDelivery(deliveryOf(await calls.test({ url: target.url })).id);
    const [posted] = target.received;
    for (const secret of [first, ...secrets]) {
      expect(await verifyWebhook(posted?.body ?? '', posted?.headers ?? {}, secret)).toMatchObject({
        type: 'webhook.test',
      });
    }
    await secretsAreOver();
    expect((await calls.rotate()).status).toBe(200);
  });
});

describe('a default URL', () => {
  it('of which nothing but failure came for five days is given up, until it is set again', async () => {
    const admin = new AdminCalls(harness);
    const dead = 'http://127.0.0.1:1/hook';
    const path = `accounts/${harness.demo.accountId}`;
    expect((await admin.patch(path, { defaultWebhookUrl: dead })).json).not.toHaveProperty('defaultWebhookDisabledAt');
    await harness.database.query(
      `UPDATE accounts SET default_webhook_failing_since = now() - interval '5 days 1 hour' WHERE id = $1`,
      [parseId('acct', harness.demo.accountId)],
    );
    await calls.attemptedDelivery({});
    await until('it was given up', 10_000, async () => 'defaultWebhookDisabledAt' in (await admin.get(path)).json);
    const { json } = await admin.get(path);
    const reason = json['defaultWebhookDisabledReason'];
    expect([json['defaultWebhookUrl'], reason]).toEqual([
      dead,
      expect.stringMatching(/^Nothing but failure in 5 days/),
    ]);
    const event = async (): Promise<unknown> =>
      (
        await harness.database.query(
          `SELECT data, dispatched_at IS NOT NULL AS taken FROM events WHERE type = 'webhook.disabled'`,
        )
      )[0];
    const data = { accountId: harness.demo.accountId, url: dead, reason };
    await expect.poll(event, { timeout: 5_000 }).toEqual({ data, taken: true });
    const notes = await admin.notes(harness.demo.accountId);
    expect(notes.at(-1)).toMatchObject({ actor: 'system', action: 'disable-webhook', requestId: null });
    expect((await admin.get('audit')).status).toBe(200);
    expect((await admin.patch(path, { name: 'Acme' })).json).toHaveProperty('defaultWebhookDisabledAt');
    const again = await admin.patch(path, { defaultWebhookUrl: dead });
    expect([again.json['defaultWebhookUrl'], again.json]).toEqual([
      dead,
      expect.not.objectContaining({ defaultWebhookDisabledAt: expect.anything() as unknown }),
    ]);
  });
});

describe('WEBHOOK_HOST_PER_SECOND', () => {
  it('is how many a host gets, after a second’s worth at once; others get their own', async () => {
    const slow = await ControlPlaneHarness.open({ WEBHOOK_HOST_PER_SECOND: '5' });
    try {
      const [one, other] = [await receiver(), await receiver()];
      // One after the other: a busy machine would shed some of twenty at once.
      for (let asked = 0; asked < 20; asked += 1)
        expect((await new WebhookCalls(slow).test({ url: one.url })).status).toBe(202);
      await new WebhookCalls(slow).test({ url: other.url });
      await until('the other one has its own', 10_000, () => other.received.length === 1);
      await until('all have come', 20_000, () => one.received.length === 20);
      const at = one.received.map(({ atMs }) => atMs);
      // Five at once, and fifteen more at 200 ms each; clocks may differ slightly.
      expect((at.at(-1) ?? 0) - (at[0] ?? 0)).toBeGreaterThan(2_900);
    } finally {
      await slow.close();
    }
  });
});
