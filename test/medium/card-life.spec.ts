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

const unsure: SendOutcome = { kind: 'unknown', because: 'time-out' };

const commandsOf = async (id: Uuid): Promise<string[]> =>
  (await harness.cards.commands.claimDueCommands(1_000, 60))
    .filter((errand) => errand.id === id)
    .map(({ kind }) => kind);

const standing = async ({ id }: { readonly id: Uuid }): Promise<unknown> => {
  const [row] = await harness.database.query(
    `SELECT state, settled_as AS "finalChannel", refusal, errand FROM cards WHERE id = $1`,
    [id],
  );
  return row;
};

const expire = (...ids: readonly Uuid[]): Promise<unknown> =>
  harness.database.query(`UPDATE cards SET expires_at = now() - interval '1 s' WHERE id = ANY ($1::uuid[])`, [ids]);

describe('an offer', () => {
  it('is taken by one gateway, once', async () => {
    const card = await harness.offered();
    await harness.database.query(`UPDATE cards SET created_at = now() + interval '1 hour' WHERE id = $1`, [card.id]);
    const taken = await Promise.all(
      [harness.cards, harness.otherCards()].map((cards) => cards.sends.claimOffers([card.id])),
    );
    expect(taken.flat().map(({ id }) => id)).toEqual([card.id]);
    expect(await harness.cards.sends.claimOffers([card.id])).toEqual([]);
    expect(await harness.cards.offers.withdrawUnclaimed(card.id)).toBe('claimed');
  });

  it('is not taken any more once it was withdrawn, is half a second old or past its time', async () => {
    const [withdrawn, old, over, unknown] = [
      (await harness.offered()).id,
      (await harness.offered()).id,
      (await harness.offered()).id,
      harness.clock.newId(),
    ];
    await harness.cards.offers.withdrawUnclaimed(withdrawn);
    await harness.database.query(`UPDATE cards SET created_at = now() - interval '500 ms' WHERE id = $1`, [old]);
    await expire(over);
    expect(await harness.cards.sends.claimOffers([withdrawn, old, over, unknown])).toEqual([]);
    expect(await harness.cards.sends.claimOffers([])).toEqual([]);
  });

  it('that nobody took is withdrawn, and told to have been withdrawn when that is asked again', async () => {
    const { id } = await harness.offered();
    expect(await harness.cards.offers.withdrawUnclaimed(id)).toBe('withdrawn');
    expect(await harness.cards.offers.withdrawUnclaimed(id)).toBe('withdrawn');
    expect(await harness.cards.offers.settleChannel(id)).toBe('sms_fallback');
    expect(await standing({ id })).toEqual({
      state: 'withdrawn',
      finalChannel: 'sms_fallback',
      refusal: null,
      errand: null,
    });
  });

  it('that is settled is withdrawn too; a session without a card is SMS', async () => {
    const { id } = await harness.offered();
    expect(await harness.cards.offers.settleChannel(id)).toBe('sms_fallback');
    expect(await standing({ id })).toMatchObject({ state: 'withdrawn', finalChannel: 'sms_fallback' });
    expect(await harness.cards.offers.settleChannel(harness.clock.newId())).toBe('sms_fallback');
    expect(await harness.cards.offers.withdrawUnclaimed(harness.clock.newId())).toBe('sms_fallback');
  });
});

describe('the outcome of a send', () => {
  it.each([
    [{ kind: 'sent' }, 'sent', { state: 'sent', finalChannel: null, refusal: null, errand: null }],
    [
      { kind: 'unreachable' },
      'sms_fallback',
      { state: 'refused', finalChannel: 'sms_fallback', refusal: 'unreachable', errand: null },
    ],
    [
      { kind: 'refused', because: 'HTTP 429' },
      'sms_fallback',
      { state: 'refused', finalChannel: 'sms_fallback', refusal: 'HTTP 429', errand: null },
    ],
    [unsure, 'sms_fallback', { state: 'unknown', finalChannel: 'sms_fallback', refusal: 'time-out', errand: 'revoke' }],
  ] as const)('%j is news of %s', async (outcome, news, standsAs) => {
    const { id, originProcess } = await harness.sending();
    expect(await harness.cards.sends.recordSendOutcomes([{ id, outcome }])).toEqual([{ id, originProcess, news }]);
    expect(await standing({ id })).toEqual(standsAs);
    // A gateway that did not hear that it was written says it again.
    expect(await harness.cards.sends.recordSendOutcomes([{ id, outcome }])).toEqual([{ id, originProcess, news }]);
  });

  it('of a card that is not there, or that was withdrawn, changes nothing', async () => {
    const { id, originProcess } = await harness.offered();
    await harness.cards.offers.withdrawUnclaimed(id);
    const news = await harness.cards.sends.recordSendOutcomes([
      { id, outcome: { kind: 'sent' } },
      { id: harness.clock.newId(), outcome: { kind: 'sent' } },
    ]);
    expect(news).toEqual([{ id, originProcess, news: 'sms_fallback' }]);
    expect(await standing({ id })).toMatchObject({ state: 'withdrawn' });
  });

  it('does not undo a delivery that was told before it', async () => {
    const card = await harness.sending();
    await harness.tell(harness.eventOf(card, 'delivered'));
    expect(await harness.cards.sends.recordSendOutcomes([{ id: card.id, outcome: unsure }])).toMatchObject([
      { news: 'rcs' },
    ]);
    expect(await standing(card)).toEqual({ state: 'sent', finalChannel: 'rcs', refusal: 'time-out', errand: null });
  });
});

describe('a card that is not settled in time', () => {
  it('is SMS and revoked at once, if the platform has it', async () => {
    const card = await harness.sent();
    expect(await harness.cards.offers.settleChannel(card.id)).toBe('sms_fallback');
    expect(await harness.cards.offers.settleChannel(card.id)).toBe('sms_fallback');
    expect(await commandsOf(card.id)).toEqual(['revoke']);
  });

  it('is revoked when its outcome is known, if its send is still under way', async () => {
    const [sent, refused] = [await harness.sending(), await harness.sending()];
    for (const { id } of [sent, refused]) await harness.cards.offers.settleChannel(id);
    expect(await commandsOf(sent.id)).toEqual([]);
    await record(sent.id, { kind: 'sent' });
    await record(refused.id, { kind: 'refused', because: 'HTTP 500' });
    expect(await commandsOf(sent.id)).toEqual(['revoke']);
    expect((await harness.cardOf(refused.id))?.errand).toBeNull();
  });

  it('is revoked all the same when its gateway is never heard of again', async () => {
    const card = await harness.sending();
    await harness.cards.offers.settleChannel(card.id);
    const [row] = await harness.database.query<{ due: number }>(
      `SELECT extract(epoch FROM errand_due_at - settled_at)::float8 AS due FROM cards WHERE id = $1`,
      [card.id],
    );
    expect(row?.due).toBe(2);
  });
});

describe('the queue of cards', () => {
  it('tells what waits and what is on its way, whatever time this machine believes it is', async () => {
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
  it('has its card revoked once, where it may still arrive', async () => {
    const [onItsWay, arrived, refused, over] = [
      await harness.sent(),
      await harness.sent(),
      await harness.sending(),
      await harness.sent(),
    ];
    await harness.tell(harness.eventOf(arrived, 'delivered'));
    await record(refused.id, { kind: 'unreachable' });
    await expire(over.id);
    const ids = [onItsWay, arrived, refused, over].map(({ id }) => id);
    const revoke = (): Promise<Uuid[]> =>
      harness.database.transaction((tx) =>
        harness.cards.offers.revokeCardsOfEndedSessions(tx, [...ids, harness.clock.newId()]),
      );
    expect(await revoke()).toEqual([onItsWay.id]);
    expect(await revoke()).toEqual([]);
    const [errand] = (await harness.cards.commands.claimDueCommands(1_000, 60)).filter(({ id }) => id === onItsWay.id);
    if (errand === undefined) throw new Error('nothing to revoke');
    await harness.cards.commands.completeCommand(errand);
    expect(await revoke()).toEqual([]);
    expect(await harness.database.transaction((tx) => harness.cards.offers.revokeCardsOfEndedSessions(tx, []))).toEqual(
      [],
    );
  });
});

describe('an errand', () => {
  // What the tests above left behind.
  beforeEach(() => harness.database.query('UPDATE cards SET errand = NULL, errand_due_at = NULL'));

  it('holds what the platform must be told', async () => {
    expect(await harness.cards.commands.msToNextCommand()).toBeNull();
    const { id, phone, brandName, expiresAt } = await harness.sent();
    await harness.cards.offers.settleChannel(id);
    expect(await harness.cards.commands.msToNextCommand()).toBe(0);
    expect(await harness.cards.commands.claimDueCommands(10, 60)).toEqual([
      { id, kind: 'revoke', agentId: AGENT, phone, brandName, messageId: messageIdOf(id, 'card'), expiresAt },
    ]);
    expect(await harness.cards.commands.msToNextCommand()).toBeGreaterThan(50_000);
  });

  it('is taken by one of several gateways, as many as asked for', async () => {
    const cards = [await harness.sent(), await harness.sent(), await harness.sent()];
    for (const { id } of cards) await harness.cards.offers.settleChannel(id);
    const taken = await Promise.all(
      [harness.cards, harness.otherCards()].map((stores) => stores.commands.claimDueCommands(2, 60)),
    );
    expect(new Set(taken.flat().map(({ id }) => id)).size).toBe(taken.flat().length);
    expect(taken.flat().length + (await harness.cards.commands.claimDueCommands(10, 60)).length).toBe(3);
  });

  it('is tried once more after a pause, and then given up', async () => {
    const { id } = await harness.sent();
    await harness.cards.offers.settleChannel(id);
    const take = async (): Promise<void> => {
      const [errand] = await harness.cards.commands.claimDueCommands(10, 60);
      if (errand === undefined) throw new Error('no errand was due');
      await harness.cards.commands.retryCommand(errand);
    };
    await take();
    expect(await harness.cards.commands.claimDueCommands(10, 60)).toEqual([]);
    await harness.database.query('UPDATE cards SET errand_due_at = now() WHERE id = $1', [id]);
    await take();
    expect((await harness.cardOf(id))?.errand).toBeNull();
  });

  it('whose taker died comes back after its lease, once', async () => {
    const { id } = await harness.sent();
    await harness.cards.offers.settleChannel(id);
    for (const left of [1, 1, 0]) {
      expect(await harness.cards.commands.claimDueCommands(10, 60)).toHaveLength(left);
      await harness.database.query(`UPDATE cards SET errand_due_at = now() WHERE id = $1 AND errand IS NOT NULL`, [id]);
    }
    expect((await harness.cardOf(id))?.errand).toBeNull();
  });

  it('is given up a minute after the session had its time', async () => {
    const { id } = await harness.sent();
    await harness.cards.offers.settleChannel(id);
    await harness.database.query(`UPDATE cards SET expires_at = now() - interval '61 s' WHERE id = $1`, [id]);
    expect(await harness.cards.commands.claimDueCommands(10, 60)).toEqual([]);
    expect((await harness.cardOf(id))?.errand).toBeNull();
  });

  it('that another has replaced meanwhile is not ended with it', async () => {
    const card = await harness.sent();
    await harness.cards.offers.settleChannel(card.id);
    const [revoke] = await harness.cards.commands.claimDueCommands(10, 60);
    await harness.tell(harness.tapOn(card, { kind: 'approve' }));
    if (revoke === undefined) throw new Error('nothing to revoke');
    await harness.cards.commands.completeCommand(revoke);
    await harness.cards.commands.retryCommand(revoke);
    expect((await harness.cards.commands.claimDueCommands(10, 60)).map(({ kind }) => kind)).toEqual(['close_approved']);
  });
});
