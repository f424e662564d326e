import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { AGENT, RcsHarness } from '../support/rcs-harness.js';
import { until } from '../support/until.js';

const WITHIN_MS = 15_000;
/** A separate agent for failing sends, because its breaker opens for later cards. */
const FAILING = { agentId: 'failing_agent' };

let harness: RcsHarness;

beforeAll(async () => {
  harness = await RcsHarness.open(inject('redisUrl'));
});
afterAll(() => harness.close());

const onlinePhone = (): string => {
  const phone = harness.freshPhone();
  harness.platform.phone(phone, {});
  return phone;
};

const texts = (phone: string): (string | null)[] => harness.platform.messages(phone).map(({ text }) => text);

describe('a card', () => {
  it('is sent with the agent, the brand and the expiry of its session, and its outcome is published', async () => {
    const phone = harness.freshPhone();
    harness.platform.phone(phone, { online: false });
    const card = await harness.offer(phone);
    await harness.receives(card, 'sent');
    expect(harness.outcomesOf(card)).toEqual(['sent']);
    const [message, ...others] = harness.platform.messages(phone);
    expect(others).toEqual([]);
    expect(message).toMatchObject({ agentId: AGENT, state: 'waiting', trafficType: 'AUTHENTICATION' });
    expect(message?.card).toMatchObject({ title: 'Sign in to Acme?' });
    expect(message?.suggestions).toEqual(['Approve', 'Deny']);
    expect(message?.expiresAt).toBe(card.session.expiresAt.toISOString());
    expect(await harness.record(card)).toMatchObject({ state: 'sent', finalChannel: null });
    expect((await harness.session(card)).channel).toBe('sms_fallback');
  });

  it('that is delivered makes its session rcs, at whichever gateway receives the event', async () => {
    const card = await harness.offer(onlinePhone());
    await harness.receives(card, 'rcs');
    expect((await harness.session(card)).channel).toBe('rcs');
    expect(await harness.record(card)).toMatchObject({ finalChannel: 'rcs', deliveredAt: expect.any(Date) as unknown });
    const answered = () => harness.platform.webhookPosts.filter(({ sender }) => sender !== undefined);
    // The outcome may be received before the platform has the answer to its webhook.
    await until('the webhook is answered', WITHIN_MS, () => answered().length > 0);
    expect(answered().every(({ to, sender, status }) => to !== sender && status === 200)).toBe(true);
  });

  it('that is approved ends its session as rcs, writes its event, and gets a closing text', async () => {
    const phone = harness.freshPhone();
    harness.platform.phone(phone, { autoTap: 'approve', tapAfterMs: 0 });
    const card = await harness.offer(phone);
    expect(await harness.reachesStatus(card, 'approved')).toMatchObject({ channel: 'rcs' });
    const events = await harness.sql<{ type: string }>('SELECT type FROM events WHERE session_id = $1', [card.id]);
    expect(events).toEqual([{ type: 'verification.completed' }]);
    await until('the closing text is there', WITHIN_MS, () => harness.platform.messages(phone).length === 2);
    expect(texts(phone)).toEqual([null, 'You approved this sign-in to Acme.']);
    await until('no command is left', WITHIN_MS, async () => (await harness.record(card)).command === null);
  });

  it('that is denied ends its session, and gets a closing text', async () => {
    const phone = harness.freshPhone();
    harness.platform.phone(phone, { autoTap: 'deny', tapAfterMs: 0 });
    const card = await harness.offer(phone);
    expect(await harness.reachesStatus(card, 'denied')).toMatchObject({ channel: 'rcs' });
    await until('the closing text is there', WITHIN_MS, () => harness.platform.messages(phone).length === 2);
    expect(texts(phone)[1]).toContain('denied');
  });

  it('with number matching is approved by the right number only', async () => {
    const [right, wrong] = [onlinePhone(), onlinePhone()];
    for (const [phone, approves] of [
      [right, true],
      [wrong, false],
    ] as const) {
      const card = await harness.offer(phone, { numberMatching: true });
      await harness.receives(card, 'rcs');
      const [message] = harness.platform.messages(phone);
      if (message === undefined) throw new Error('no card');
      expect(message.suggestions).toHaveLength(4);
      const code = harness.answers.matchCodeOf(card);
      const tapped = message.suggestions.findIndex((text) => (text === code) === approves && text !== 'Deny');
      harness.platform.rbm.platform.tap(message.messageId, tapped);
      await harness.reachesStatus(card, approves ? 'approved' : 'denied');
    }
  });

  it('is refused to a phone without RCS, which is recorded', async () => {
    const phone = harness.freshPhone();
    harness.platform.phone(phone, { reachable: false });
    const card = await harness.offer(phone);
    await harness.receives(card, 'sms_fallback');
    expect(await harness.record(card)).toMatchObject({ state: 'refused', refusal: 'unreachable' });
    const known = await harness.sql('SELECT 1 FROM card_recipients WHERE phone = $1 AND unreachable_at IS NOT NULL', [
      phone,
    ]);
    expect(known).toHaveLength(1);
  });

  it.each([
    ['+14155580429', { state: 'refused', refusal: 'throttled' }],
    ['+14155580503', { state: 'unknown', refusal: 'server_error' }],
    ['+14155580599', { state: 'unknown', refusal: 'timeout' }],
  ])('to %s, for which the platform fails, falls back at once', async (phone, expected) => {
    harness.platform.phone(phone, { online: false });
    const card = await harness.offer(phone, FAILING);
    await harness.receives(card, 'sms_fallback');
    expect(await harness.record(card)).toMatchObject({ ...expected, finalChannel: 'sms_fallback' });
    expect((await harness.session(card)).channel).toBe('sms_fallback');
  });

  it('that arrives before the answer to its send is rcs', async () => {
    const card = await harness.offer('+14155570599', FAILING);
    await harness.receives(card, 'rcs');
    expect((await harness.session(card)).channel).toBe('rcs');
    await until('its send is recorded', WITHIN_MS, async () => (await harness.record(card)).state === 'sent');
    expect(harness.outcomesOf(card).every((outcome) => outcome === 'rcs')).toBe(true);
    expect((await harness.record(card)).command).toBeNull();
  });

  it('with an unknown outcome counts when it is tapped later', async () => {
    const phone = '+14155590599';
    harness.platform.phone(phone, { deliverAfterMs: 2_000, deliverAnyway: true });
    const card = await harness.offer(phone, { agentId: 'late_agent' });
    await harness.receives(card, 'sms_fallback');
    await until('it is on the phone', WITHIN_MS, () => harness.platform.messages(phone)[0]?.state === 'delivered');
    harness.platform.rbm.platform.tap(harness.platform.messages(phone)[0]?.messageId ?? '', 0);
    expect(await harness.reachesStatus(card, 'approved')).toMatchObject({ channel: 'sms_fallback' });
  });

  it('that is settled as sms_fallback is revoked, and so is one without a recorded outcome', async () => {
    const [settled, lost] = [harness.freshPhone(), harness.freshPhone()];
    for (const phone of [settled, lost]) harness.platform.phone(phone, { online: false });
    const card = await harness.offer(settled);
    await harness.receives(card, 'sent');
    expect(await harness.cards.offers.settleChannel(card.id)).toBe('sms_fallback');
    harness.notify([card.id]);
    await until('it is revoked', WITHIN_MS, () => harness.platform.messages(settled)[0]?.state === 'revoked');
    // Its gateway failed between the claim and the record: the waiting create settles it.
    const orphan = await harness.offerClaimed(lost);
    expect(await harness.cards.offers.settleChannel(orphan.id)).toBe('sms_fallback');
    harness.notify([orphan.id]);
    await until('no command is left', WITHIN_MS, async () => (await harness.record(orphan)).command === null);
    expect(harness.platform.messages(lost)).toEqual([]);
  });

  it('is sent after a broadcast without a queue job', async () => {
    const card = await harness.offer(onlinePhone(), {}, (id) => harness.broadcast([id]));
    await harness.receives(card, 'rcs');
  });

  it('is sent once for repeated jobs and broadcasts at both gateways', async () => {
    const phone = harness.freshPhone();
    harness.platform.phone(phone, { online: false });
    const card = await harness.offer(phone, {}, (id) => {
      for (let repeats = 0; repeats < 5; repeats++) {
        harness.broadcast([id, id]);
        harness.notify([id, id]);
      }
    });
    await harness.receives(card, 'sent');
    expect(harness.outcomesOf(card)).toEqual(['sent']);
    expect(harness.platform.messages(phone)).toHaveLength(1);
  });
});

describe('an event of the platform', () => {
  it('is processed by polling when the gateway that stored it did not process it', async () => {
    const phone = harness.freshPhone();
    harness.platform.phone(phone, { online: false });
    const card = await harness.offer(phone);
    await harness.receives(card, 'sent');
    const { clock } = harness.gateway.harness;
    const [message] = harness.platform.messages(phone);
    const occurredAt = new Date(clock.nowMs());
    const event = { agentId: AGENT, phone, messageId: message?.messageId ?? null, cardId: null, choice: null };
    await harness.cards.events.storeEvents([{ ...event, id: clock.newId(), kind: 'delivered', occurredAt }]);
    await harness.receives(card, 'rcs');
  });

  it('of a suspended agent leads to refused offers, until the agent is launched again', async () => {
    const agentId = 'another_agent';
    const suspended = async (): Promise<boolean | undefined> => {
      const rows = await harness.sql<{ suspended: boolean }>('SELECT suspended FROM card_agents WHERE agent_id = $1', [
        agentId,
      ]);
      return rows[0]?.suspended;
    };
    harness.platform.rbm.sendLaunchState(agentId, 'SUSPENDED');
    await until('it is suspended', WITHIN_MS, async () => (await suspended()) === true);
    await expect(harness.offer(harness.freshPhone(), { agentId })).rejects.toThrow('agent_suspended');
    harness.platform.rbm.sendLaunchState(agentId, 'LAUNCHED');
    await until('it is launched', WITHIN_MS, async () => (await suspended()) === false);
  });

  it('of an unsubscription leads to refused offers, until the person subscribes again', async () => {
    const phone = onlinePhone();
    const prefersSms = async (): Promise<boolean> =>
      (await harness.sql('SELECT 1 FROM card_recipients WHERE phone = $1 AND prefers_sms_at IS NOT NULL', [phone]))
        .length === 1;
    harness.platform.rbm.reply(AGENT, phone, 'STOP');
    await until('the phone is unsubscribed', WITHIN_MS, prefersSms);
    await expect(harness.offer(phone)).rejects.toThrow('prefers_sms');
    harness.platform.rbm.reply(AGENT, phone, 'START');
    await until('the phone is subscribed', WITHIN_MS, async () => !(await prefersSms()));
    await harness.receives(await harness.offer(phone), 'rcs');
  });

  it.each([
    ['repeated', { duplicate: true }],
    ['sent in another order', { reorder: true }],
    ['sent without a time', { omitSendTime: true }],
    ['sent without a type', { omitType: true }],
    ['sent without the delivery', { dropDelivered: true }],
  ])('counts once when it is %s', async (_, faults) => {
    harness.platform.rbm.set(faults);
    try {
      const phone = harness.freshPhone();
      harness.platform.phone(phone, { autoTap: 'approve', tapAfterMs: 50 });
      const card = await harness.offer(phone);
      expect(await harness.reachesStatus(card, 'approved')).toMatchObject({ channel: 'rcs' });
      await until('all events are processed', WITHIN_MS, async () => (await unprocessed()) === 0);
      expect(await harness.sql('SELECT 1 FROM events WHERE session_id = $1', [card.id])).toHaveLength(1);
    } finally {
      harness.platform.rbm.set({
        duplicate: false,
        reorder: false,
        omitSendTime: false,
        omitType: false,
        dropDelivered: false,
      });
    }
  });

  it('has no effect with a wrong signature or another agent', async () => {
    const phone = harness.freshPhone();
    harness.platform.phone(phone, { autoTap: 'approve', tapAfterMs: 0 });
    harness.platform.rbm.set({ wrongAgent: true });
    const card = await harness.offer(phone);
    await until('the tap is processed', WITHIN_MS, async () => (await outcomesOf(card.id)).length > 0);
    expect((await harness.session(card)).status).toBe('pending');
    harness.platform.rbm.set({ wrongAgent: false, corruptSignature: true });
    const before = harness.platform.webhookPosts.length;
    harness.platform.rbm.platform.tap(harness.platform.messages(phone)[0]?.messageId ?? '', 0);
    await until('the webhook is refused', WITHIN_MS, () =>
      harness.platform.webhookPosts.slice(before).some(({ status }) => status === 401),
    );
    expect((await harness.session(card)).status).toBe('pending');
    harness.platform.rbm.set({ corruptSignature: false });
    await harness.reachesStatus(card, 'approved');
  });
});

async function unprocessed(): Promise<number> {
  const rows = await harness.sql('SELECT 1 FROM card_events WHERE handled_at IS NULL');
  return rows.length;
}

async function outcomesOf(cardId: string): Promise<(string | null)[]> {
  const rows = await harness.sql<{ outcome: string | null }>(
    'SELECT outcome FROM card_events WHERE card_id = $1 AND handled_at IS NOT NULL',
    [cardId],
  );
  return rows.map(({ outcome }) => outcome);
}
