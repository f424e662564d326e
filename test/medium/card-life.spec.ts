import { CardQueue } from '@countersign/rcs/offers';
import { messageIdOf, type SendOutcome } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { AGENT, openCardHarness, type CardHarness } from '../support/card-harness.js';

let harness: CardHarness;

beforeAll(async () => {
  harness = await openCardHarness();
});
afterAll(() => harness.close());

const record = (id: Uuid, outcome: SendOutcome): Promise<unknown> =>
  harness.cards.sends.recordSendOutcomes([{ id, outcome }]);

const unknown: SendOutcome = { kind: 'unknown', because: 'time-out' };

const commandsOf = async (id: Uuid): Promise<string[]> =>
  (await harness.cards.commands.claimDueCommands(1_000, 60))
    .filter((command) => command.id === id)
    .map(({ kind }) => kind);

const settlementOf = async ({ id }: { readonly id: Uuid }): Promise<unknown> => {
  const [row] = await harness.database.query(
    `SELECT state, settled_as AS "finalChannel", refusal, errand AS command FROM cards WHERE id = $1`,
    [id],
  );
  return row;
};

const expire = (...ids: readonly Uuid[]): Promise<unknown> =>
  harness.database.query(`UPDATE cards SET expires_at = now() - interval '1 s' WHERE id = ANY ($1::uuid[])`, [ids]);

describe('an offer', () => {
  it('is claimed by one gateway, once', async () => {
    const card = await harness.offered();
    await harness.database.query(`UPDATE cards SET created_at = now() + interval '1 hour' WHERE id = $1`, [card.id]);
    const claimed = await Promise.all(
      [harness.cards, harness.otherCards()].map((cards) => cards.sends.claimOffers([card.id])),
    );
    expect(claimed.flat().map(({ id }) => id)).toEqual([card.id]);
    expect(await harness.cards.sends.claimOffers([card.id])).toEqual([]);
    expect(await harness.cards.offers.withdrawUnclaimed(card.id)).toBe('claimed');
  });

  it('can no longer be claimed when it is withdrawn, half a second old or expired', async () => {
    const [withdrawn, old, expired, missing] = [
      (await harness.offered()).id,
      (await harness.offered()).id,
      (await harness.offered()).id,
      harness.clock.newId(),
    ];
    await harness.cards.offers.withdrawUnclaimed(withdrawn);
    await harness.database.query(`UPDATE cards SET created_at = now() - interval '500 ms' WHERE id = $1`, [old]);
    await expire(expired);
    expect(await harness.cards.sends.claimOffers([withdrawn, old, expired, missing])).toEqual([]);
    expect(await harness.cards.sends.claimOffers([])).toEqual([]);
  });

  it('that is unclaimed is withdrawn, and remains so when it is withdrawn again', async () => {
    const { id } = await harness.offered();
    expect(await harness.cards.offers.withdrawUnclaimed(id)).toBe('withdrawn');
    expect(await harness.cards.offers.withdrawUnclaimed(id)).toBe('withdrawn');
    expect(await harness.cards.offers.settleChannel(id)).toBe('sms_fallback');
    expect(await settlementOf({ id })).toEqual({
      state: 'withdrawn',
      finalChannel: 'sms_fallback',
      refusal: null,
      command: null,
    });
  });

  it('that is settled is withdrawn too; a session without a card is sms_fallback', async () => {
    const { id } = await harness.offered();
    expect(await harness.cards.offers.settleChannel(id)).toBe('sms_fallback');
    expect(await settlementOf({ id })).toMatchObject({ state: 'withdrawn', finalChannel: 'sms_fallback' });
    expect(await harness.cards.offers.settleChannel(harness.clock.newId())).toBe('sms_fallback');
    expect(await harness.cards.offers.withdrawUnclaimed(harness.clock.newId())).toBe('sms_fallback');
  });
});

describe('the outcome of a send', () => {
  it.each([
    [{ kind: 'sent' }, 'sent', { state: 'sent', finalChannel: null, refusal: null, command: null }],
    [
      { kind: 'unreachable' },
      'sms_fallback',
      { state: 'refused', finalChannel: 'sms_fallback', refusal: 'unreachable', command: null },
    ],
    [
      { kind: 'refused', because: 'HTTP 429' },
      'sms_fallback',
      { state: 'refused', finalChannel: 'sms_fallback', refusal: 'HTTP 429', command: null },
    ],
    [
      unknown,
      'sms_fallback',
      { state: 'unknown', finalChannel: 'sms_fallback', refusal: 'time-out', command: 'revoke' },
    ],
  ] as const)('%j is published as %s', async (outcome, news, settlement) => {
    const { id, originProcess } = await harness.sending();
    expect(await harness.cards.sends.recordSendOutcomes([{ id, outcome }])).toEqual([{ id, originProcess, news }]);
    expect(await settlementOf({ id })).toEqual(settlement);
    // A gateway that got no answer from the database records it again.
    expect(await harness.cards.sends.recordSendOutcomes([{ id, outcome }])).toEqual([{ id, originProcess, news }]);
  });

  it('of a missing or withdrawn card changes nothing', async () => {
    const { id, originProcess } = await harness.offered();
    await harness.cards.offers.withdrawUnclaimed(id);
    const outcomes = await harness.cards.sends.recordSendOutcomes([
      { id, outcome: { kind: 'sent' } },
      { id: harness.clock.newId(), outcome: { kind: 'sent' } },
    ]);
    expect(outcomes).toEqual([{ id, originProcess, news: 'sms_fallback' }]);
    expect(await settlementOf({ id })).toMatchObject({ state: 'withdrawn' });
  });

  it('does not undo an earlier delivery event', async () => {
    const card = await harness.sending();
    await harness.storeAndProcess(harness.eventOf(card, 'delivered'));
    expect(await harness.cards.sends.recordSendOutcomes([{ id: card.id, outcome: unknown }])).toMatchObject([
      { news: 'rcs' },
    ]);
    expect(await settlementOf(card)).toEqual({
      state: 'sent',
      finalChannel: 'rcs',
      refusal: 'time-out',
      command: null,
    });
  });
});

describe('a card that is not settled in time', () => {
  it('is sms_fallback and revoked at once, if the platform accepted it', async () => {
    const card = await harness.sent();
    expect(await harness.cards.offers.settleChannel(card.id)).toBe('sms_fallback');
    expect(await harness.cards.offers.settleChannel(card.id)).toBe('sms_fallback');
    expect(await commandsOf(card.id)).toEqual(['revoke']);
  });

  it('is revoked once the outcome is recorded, if its send is in flight', async () => {
    const [sent, refused] = [await harness.sending(), await harness.sending()];
    for (const { id } of [sent, refused]) await harness.cards.offers.settleChannel(id);
    expect(await commandsOf(sent.id)).toEqual([]);
    await record(sent.id, { kind: 'sent' });
    await record(refused.id, { kind: 'refused', because: 'HTTP 500' });
    expect(await commandsOf(sent.id)).toEqual(['revoke']);
    expect((await harness.cardOf(refused.id))?.command).toBeNull();
  });

  it('is revoked even when its gateway never records the outcome', async () => {
    const card = await harness.sending();
    await harness.cards.offers.settleChannel(card.id);
    const [row] = await harness.database.query<{ due: number }>(
      `SELECT extract(epoch FROM errand_due_at - settled_at)::float8 AS due FROM cards WHERE id = $1`,
      [card.id],
    );
    // The statement reads the clock twice, so the times may differ by some milliseconds more.
    expect(row?.due).toBeGreaterThanOrEqual(2);
    expect(row?.due).toBeLessThan(3);
  });
});

describe('the queue of cards', () => {
  it('counts waiting and sending cards, independent of the clock of this machine', async () => {
    const queue = new CardQueue();
    const before = await queue.depth(harness.database);
    await harness.offered();
    await harness.sending();
    await harness.sent();
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    try {
      const { waiting, inFlight, failed, oldestAgeSeconds } = await queue.depth(harness.database);
      expect([waiting, inFlight, failed]).toEqual([before.waiting + 1, before.inFlight + 1, 0]);
      expect(oldestAgeSeconds).toBeGreaterThanOrEqual(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a session that ends', () => {
  it('has its card revoked once, if it may still arrive', async () => {
    const [sent, arrived, refused, expired] = [
      await harness.sent(),
      await harness.sent(),
      await harness.sending(),
      await harness.sent(),
    ];
    await harness.storeAndProcess(harness.eventOf(arrived, 'delivered'));
    await record(refused.id, { kind: 'unreachable' });
    await expire(expired.id);
    const ids = [sent, arrived, refused, expired].map(({ id }) => id);
    const revoke = (): Promise<Uuid[]> =>
      harness.database.transaction((tx) =>
        harness.cards.offers.requestRevokesOfEndedSessions(tx, [...ids, harness.clock.newId()]),
      );
    expect(await revoke()).toEqual([sent.id]);
    expect(await revoke()).toEqual([]);
    const [command] = (await harness.cards.commands.claimDueCommands(1_000, 60)).filter(({ id }) => id === sent.id);
    if (command === undefined) throw new Error('nothing to revoke');
    await harness.cards.commands.completeCommand(command);
    expect(await revoke()).toEqual([]);
    expect(
      await harness.database.transaction((tx) => harness.cards.offers.requestRevokesOfEndedSessions(tx, [])),
    ).toEqual([]);
  });
});

describe('a command', () => {
  // Removes the commands of the tests above.
  beforeEach(() => harness.database.query('UPDATE cards SET errand = NULL, errand_due_at = NULL'));

  it('has the values that the platform needs', async () => {
    expect(await harness.cards.commands.msToNextCommand()).toBeNull();
    const { id, phone, brandName, expiresAt } = await harness.sent();
    await harness.cards.offers.settleChannel(id);
    expect(await harness.cards.commands.msToNextCommand()).toBe(0);
    expect(await harness.cards.commands.claimDueCommands(10, 60)).toEqual([
      { id, kind: 'revoke', agentId: AGENT, phone, brandName, messageId: messageIdOf(id, 'card'), expiresAt },
    ]);
    expect(await harness.cards.commands.msToNextCommand()).toBeGreaterThan(50_000);
  });

  it('is claimed by one of several gateways, up to the limit', async () => {
    const cards = [await harness.sent(), await harness.sent(), await harness.sent()];
    for (const { id } of cards) await harness.cards.offers.settleChannel(id);
    const claimed = await Promise.all(
      [harness.cards, harness.otherCards()].map((stores) => stores.commands.claimDueCommands(2, 60)),
    );
    expect(new Set(claimed.flat().map(({ id }) => id)).size).toBe(claimed.flat().length);
    expect(claimed.flat().length + (await harness.cards.commands.claimDueCommands(10, 60)).length).toBe(3);
  });

  it('is retried once after a pause, and then dropped', async () => {
    const { id } = await harness.sent();
    await harness.cards.offers.settleChannel(id);
    const claimAndFail = async (): Promise<void> => {
      const [command] = await harness.cards.commands.claimDueCommands(10, 60);
      if (command === undefined) throw new Error('no command was due');
      await harness.cards.commands.retryCommand(command);
    };
    await claimAndFail();
    expect(await harness.cards.commands.claimDueCommands(10, 60)).toEqual([]);
    await harness.database.query('UPDATE cards SET errand_due_at = now() WHERE id = $1', [id]);
    await claimAndFail();
    expect((await harness.cardOf(id))?.command).toBeNull();
  });

  it('is due once more after its lease when its gateway failed', async () => {
    const { id } = await harness.sent();
    await harness.cards.offers.settleChannel(id);
    for (const left of [1, 1, 0]) {
      expect(await harness.cards.commands.claimDueCommands(10, 60)).toHaveLength(left);
      await harness.database.query(`UPDATE cards SET errand_due_at = now() WHERE id = $1 AND errand IS NOT NULL`, [id]);
    }
    expect((await harness.cardOf(id))?.command).toBeNull();
  });

  it('is dropped a minute after the session expired', async () => {
    const { id } = await harness.sent();
    await harness.cards.offers.settleChannel(id);
    await harness.database.query(`UPDATE cards SET expires_at = now() - interval '61 s' WHERE id = $1`, [id]);
    expect(await harness.cards.commands.claimDueCommands(10, 60)).toEqual([]);
    expect((await harness.cardOf(id))?.command).toBeNull();
  });

  it('that replaced a claimed one is not completed with it', async () => {
    const card = await harness.sent();
    await harness.cards.offers.settleChannel(card.id);
    const [revoke] = await harness.cards.commands.claimDueCommands(10, 60);
    await harness.storeAndProcess(harness.tapOn(card, { kind: 'approve' }));
    if (revoke === undefined) throw new Error('nothing to revoke');
    await harness.cards.commands.completeCommand(revoke);
    await harness.cards.commands.retryCommand(revoke);
    expect((await harness.cards.commands.claimDueCommands(10, 60)).map(({ kind }) => kind)).toEqual(['close_approved']);
  });
});
