import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { AGENT, RcsHarness } from '../support/rcs-harness.js';
import { until } from '../support/until.js';

const WITHIN_MS = 15_000;
/** Agents whose sends fail are others than the usual one: its breaker would open for the cards that come after. */
const TROUBLED = { agentId: 'troubled_agent' };

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
  it('goes out with the agent, the brand and the end of its session, and is told of', async () => {
    const phone = harness.freshPhone();
    harness.platform.phone(phone, { online: false });
    const card = await harness.offer(phone);
    await harness.hears(card, 'sent');
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

  it('that is delivered makes its session one of RCS, at whichever gateway that is told', async () => {
    const card = await harness.offer(onlinePhone());
    await harness.hears(card, 'rcs');
    expect((await harness.session(card)).channel).toBe('rcs');
    expect(await harness.record(card)).toMatchObject({ finalChannel: 'rcs', deliveredAt: expect.any(Date) as unknown });
    const answered = () => harness.platform.told.filter(({ sender }) => sender !== undefined);
    // What was committed is heard here while the platform's answer is on its way.
    await until('the platform has its answer', WITHIN_MS, () => answered().length > 0);
    expect(answered().every(({ to, sender, status }) => to !== sender && status === 200)).toBe(true);
  });

  it('that is approved ends its session as one of RCS, tells so, and is closed by a text', async () => {
    const phone = harness.freshPhone();
    harness.platform.phone(phone, { autoTap: 'approve', tapAfterMs: 0 });
    const card = await harness.offer(phone);
    expect(await harness.becomes(card, 'approved')).toMatchObject({ channel: 'rcs' });
    const events = await harness.sql<{ type: string; data: Record<string, unknown> }>(
      'SELECT type, data FROM events WHERE session_id = $1',
      [card.id],
    );
    expect(events).toMatchObject([{ type: 'verification.completed', data: { channel: 'rcs', status: 'approved' } }]);
    await until('the closing text is there', WITHIN_MS, () => harness.platform.messages(phone).length === 2);
    expect(texts(phone)).toEqual([null, 'You approved this sign-in to Acme.']);
    await until('no errand is left', WITHIN_MS, async () => (await harness.record(card)).errand === null);
  });

  it('that is denied ends its session, and says that nobody was let in', async () => {
    const phone = harness.freshPhone();
    harness.platform.phone(phone, { autoTap: 'deny', tapAfterMs: 0 });
    const card = await harness.offer(phone);
    expect(await harness.becomes(card, 'denied')).toMatchObject({ channel: 'rcs' });
    await until('the closing text is there', WITHIN_MS, () => harness.platform.messages(phone).length === 2);
    expect(texts(phone)[1]).toContain('denied');
  });

  it('with numbers is approved by the right one alone', async () => {
    const [right, wrong] = [onlinePhone(), onlinePhone()];
    for (const [phone, approves] of [
      [right, true],
      [wrong, false],
    ] as const) {
      const card = await harness.offer(phone, { numberMatching: true });
      await harness.hears(card, 'rcs');
      const [message] = harness.platform.messages(phone);
      if (message === undefined) throw new Error('no card');
      expect(message.suggestions).toHaveLength(4);
      const code = harness.answers.matchCodeOf(card);
      const tapped = message.suggestions.findIndex((text) => (text === code) === approves && text !== 'Deny');
      harness.platform.rbm.platform.tap(message.messageId, tapped);
      await harness.becomes(card, approves ? 'approved' : 'denied');
    }
  });

  it('is not sent to a phone without RCS, which is known from then on', async () => {
    const phone = harness.freshPhone();
    harness.platform.phone(phone, { reachable: false });
    const card = await harness.offer(phone);
    await harness.hears(card, 'sms_fallback');
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
  ])('to %s, which the platform does not take properly, falls back at once', async (phone, expected) => {
    harness.platform.phone(phone, { online: false });
    const card = await harness.offer(phone, TROUBLED);
    await harness.hears(card, 'sms_fallback');
    expect(await harness.record(card)).toMatchObject({ ...expected, finalChannel: 'sms_fallback' });
    expect((await harness.session(card)).channel).toBe('sms_fallback');
  });

  it('that arrives before the platform has answered its send is one of RCS', async () => {
    const card = await harness.offer('+14155570599', TROUBLED);
    await harness.hears(card, 'rcs');
    expect((await harness.session(card)).channel).toBe('rcs');
    await until('its send is recorded', WITHIN_MS, async () => (await harness.record(card)).state === 'sent');
    expect(harness.outcomesOf(card).every((word) => word === 'rcs')).toBe(true);
    expect((await harness.record(card)).errand).toBeNull();
  });

  it('of an unknown fate counts when it is tapped after all', async () => {
    const phone = '+14155590599';
    harness.platform.phone(phone, { deliverAfterMs: 2_000, deliverAnyway: true });
    const card = await harness.offer(phone, { agentId: 'late_agent' });
    await harness.hears(card, 'sms_fallback');
    await until('it is on the phone', WITHIN_MS, () => harness.platform.messages(phone)[0]?.state === 'delivered');
    harness.platform.rbm.platform.tap(harness.platform.messages(phone)[0]?.messageId ?? '', 0);
    expect(await harness.becomes(card, 'approved')).toMatchObject({ channel: 'sms_fallback' });
  });

  it('that is given up is revoked, and one that nobody recorded too', async () => {
    const [given, lost] = [harness.freshPhone(), harness.freshPhone()];
    for (const phone of [given, lost]) harness.platform.phone(phone, { online: false });
    const card = await harness.offer(given);
    await harness.hears(card, 'sent');
    expect(await harness.cards.settle(card.id)).toBe('sms_fallback');
    harness.notify([card.id]);
    await until('it is revoked', WITHIN_MS, () => harness.platform.messages(given)[0]?.state === 'revoked');
    // A gateway that died between its claim and its record: the request that waits settles it.
    const orphan = await harness.offerClaimed(lost);
    expect(await harness.cards.settle(orphan.id)).toBe('sms_fallback');
    harness.notify([orphan.id]);
    await until('no errand is left', WITHIN_MS, async () => (await harness.record(orphan)).errand === null);
    expect(harness.platform.messages(lost)).toEqual([]);
  });

  it('is sent when gateways are called for it over the bus, and nobody rings', async () => {
    const card = await harness.offer(onlinePhone(), {}, (id) => harness.call([id]));
    await harness.hears(card, 'rcs');
  });

  it('is sent once, however often it is rung and called for, at both gateways', async () => {
    const phone = harness.freshPhone();
    harness.platform.phone(phone, { online: false });
    const card = await harness.offer(phone, {}, (id) => {
      for (let notifies = 0; notifies < 5; notifies++) {
        harness.call([id, id]);
        harness.notify([id, id]);
      }
    });
    await harness.hears(card, 'sent');
    expect(harness.outcomesOf(card)).toEqual(['sent']);
    expect(harness.platform.messages(phone)).toHaveLength(1);
  });
});

describe('what the platform tells', () => {
  it('is acted on when the gateway that stored it did not come to it', async () => {
    const phone = harness.freshPhone();
    harness.platform.phone(phone, { online: false });
    const card = await harness.offer(phone);
    await harness.hears(card, 'sent');
    const { clock } = harness.gateway.harness;
    const [message] = harness.platform.messages(phone);
    const occurredAt = new Date(clock.nowMs());
    const told = { agentId: AGENT, phone, messageId: message?.messageId ?? null, cardId: null, choice: null };
    await harness.cards.storeEvents([{ ...told, id: clock.newId(), kind: 'delivered', occurredAt }]);
    await harness.hears(card, 'rcs');
  });

  it('of a suspended agent makes its cards be refused, until it is launched again', async () => {
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

  it('of a person who wants no more makes cards be refused, until they want them again', async () => {
    const phone = onlinePhone();
    const prefersSms = async (): Promise<boolean> =>
      (await harness.sql('SELECT 1 FROM card_recipients WHERE phone = $1 AND prefers_sms_at IS NOT NULL', [phone]))
        .length === 1;
    harness.platform.rbm.reply(AGENT, phone, 'STOP');
    await until('SMS is preferred', WITHIN_MS, prefersSms);
    await expect(harness.offer(phone)).rejects.toThrow('prefers_sms');
    harness.platform.rbm.reply(AGENT, phone, 'START');
    await until('cards are wanted', WITHIN_MS, async () => !(await prefersSms()));
    await harness.hears(await harness.offer(phone), 'rcs');
  });

  it.each([
    ['told twice', { duplicate: true }],
    ['told in another order', { reorder: true }],
    ['told without a time', { omitSendTime: true }],
    ['told without a type', { omitType: true }],
    ['told without the delivery', { dropDelivered: true }],
  ])('counts once when it is %s', async (_, faults) => {
    harness.platform.rbm.set(faults);
    try {
      const phone = harness.freshPhone();
      harness.platform.phone(phone, { autoTap: 'approve', tapAfterMs: 50 });
      const card = await harness.offer(phone);
      expect(await harness.becomes(card, 'approved')).toMatchObject({ channel: 'rcs' });
      await until('all is handled', WITHIN_MS, async () => (await unhandled()) === 0);
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

  it('counts for nothing with a wrong signature or another agent', async () => {
    const phone = harness.freshPhone();
    harness.platform.phone(phone, { autoTap: 'approve', tapAfterMs: 0 });
    harness.platform.rbm.set({ wrongAgent: true });
    const card = await harness.offer(phone);
    await until('the tap was handled', WITHIN_MS, async () => (await outcomesOf(card.id)).length > 0);
    expect((await harness.session(card)).status).toBe('pending');
    harness.platform.rbm.set({ wrongAgent: false, corruptSignature: true });
    const before = harness.platform.told.length;
    harness.platform.rbm.platform.tap(harness.platform.messages(phone)[0]?.messageId ?? '', 0);
    await until('it was refused', WITHIN_MS, () =>
      harness.platform.told.slice(before).some(({ status }) => status === 401),
    );
    expect((await harness.session(card)).status).toBe('pending');
    harness.platform.rbm.set({ corruptSignature: false });
    await harness.becomes(card, 'approved');
  });
});

async function unhandled(): Promise<number> {
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
