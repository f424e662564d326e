import { CardStore, type CardStoreOptions } from '@countersign/rcs';
import type { AppliedEvents } from '@countersign/rcs/events';
import { type CardRecord, findCards } from '@countersign/rcs/offers';
import {
  CardAnswers,
  messageIdOf,
  newCardEventId,
  type Card,
  type CardEventKind,
  type Choice,
  type NewCard,
  type NewCardEvent,
} from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import type { Session } from '@countersign/session/rules';
import { openSessionHarness, type SessionHarness, type SessionHarnessOptions } from './session-harness.js';
import { liveTenant } from './tenants.js';

export const AGENT = 'acme_agent';
/** Names of events that the platform does not repeat. */
let told = 0;

/** What an event says beside its kind; the rest is true of the card. */
export type EventChanges = Partial<NewCardEvent> & { readonly name?: string };

/** A session room with cards. */
export interface CardHarness extends SessionHarness {
  readonly cards: CardStore;
  readonly answers: CardAnswers;
  readonly waiter: Uuid;
  /** The same cards, as another process sees them. */
  otherCards(options?: Partial<CardStoreOptions>): CardStore;
  /** A phone that nobody has sent anything to. */
  freshPhone(): string;
  /** A new session as SMS, and the card that it would like to send. */
  draftCard(changes?: Partial<NewCard>): Promise<NewCard>;
  /** A card that waits for a gateway. */
  offered(changes?: Partial<NewCard>): Promise<NewCard>;
  /** What a gateway gets for the job of an offer, however slow this machine is. */
  claim(id: Uuid): Promise<Card>;
  /** A card that a gateway is sending. */
  sending(changes?: Partial<NewCard>): Promise<Card>;
  /** A card that the platform has taken. */
  sent(changes?: Partial<NewCard>): Promise<Card>;
  eventOf(card: NewCard, kind: CardEventKind, changes?: EventChanges): NewCardEvent;
  tapOn(card: NewCard, choice: Choice, changes?: EventChanges): NewCardEvent;
  /** Stores events and does what a gateway does with those that are new. */
  tell(...events: readonly NewCardEvent[]): Promise<Decided>;
  /** Does what a gateway does with events that are stored. */
  decide(ids: readonly Uuid[]): Promise<Decided>;
  cardOf(id: Uuid): Promise<CardRecord | undefined>;
  sessionOf(card: NewCard): Promise<Session | null>;
  outcomesOf(events: readonly NewCardEvent[]): Promise<(string | null)[]>;
}

export interface Decided extends AppliedEvents {
  readonly ended: readonly Uuid[];
}

export async function openCardHarness(options: SessionHarnessOptions = {}): Promise<CardHarness> {
  const harness = await openSessionHarness(options);
  const { database, clock, keys, account, brand } = harness;
  // However slow this machine is.
  const offerDeadlineMs = 10_000;
  const cards = new CardStore({ database, clock, keys, unreachableSeconds: 300, offerDeadlineMs });
  const waiter = clock.newId();
  let phones = 0;
  const freshPhone = (): string => `+1415556${String(phones++).padStart(4, '0')}`;
  const draftCard = async (changes: Partial<NewCard> = {}): Promise<NewCard> => {
    const phone = changes.phone ?? freshPhone();
    const { id, expiresAt } = await harness.sessions.create(harness.draft({ phone }), changes.id);
    const card = { id, accountId: account.id, brandId: brand.id, waiter, agentId: AGENT, phone, brandName: 'Acme' };
    return { ...card, logoUrl: null, numberMatching: false, keyVersion: 1, expiresAt, ...changes };
  };
  const offered = async (changes?: Partial<NewCard>): Promise<NewCard> => {
    const card = await draftCard(changes);
    const { kind } = await cards.offer(card);
    if (kind !== 'offered') throw new Error(`the card was ${kind}`);
    return card;
  };
  const claim = async (id: Uuid): Promise<Card> => {
    await database.query(`UPDATE cards SET created_at = now() + interval '1 hour' WHERE id = $1`, [id]);
    const [card] = await cards.claimOffers([id]);
    if (card === undefined) throw new Error('the card was not claimed');
    return card;
  };
  const sending = async (changes?: Partial<NewCard>): Promise<Card> => claim((await offered(changes)).id);
  const decide = (ids: readonly Uuid[]): Promise<Decided> =>
    database.transaction((tx) => decideIn(tx, harness, cards, ids));
  const eventOf = (card: NewCard, kind: CardEventKind, { name, ...changes }: EventChanges = {}): NewCardEvent => {
    const occurredAt = changes.occurredAt ?? new Date(clock.nowMs());
    told += 1;
    const id = newCardEventId(occurredAt.getTime(), name ?? `event ${told}`, clock);
    const { agentId, phone } = card;
    const messageId = kind === 'tap' ? null : messageIdOf(card.id, 'card');
    return { id, kind, agentId, phone, messageId, cardId: null, choice: null, occurredAt, ...changes };
  };
  return {
    ...harness,
    cards,
    answers: new CardAnswers(keys),
    waiter,
    otherCards: (other = {}) => new CardStore({ database, clock, keys, offerDeadlineMs, ...other }),
    freshPhone,
    draftCard,
    offered,
    claim,
    sending,
    sent: async (changes) => {
      const card = await sending(changes);
      await cards.recordOutcomes([{ id: card.id, outcome: { kind: 'sent' } }]);
      return card;
    },
    eventOf,
    tapOn: (card, choice, changes) => eventOf(card, 'tap', { cardId: card.id, choice, ...changes }),
    tell: async (...events) => decide(await cards.storeEvents(events)),
    decide,
    cardOf: async (id) => (await findCards(database, [id])).get(id),
    sessionOf: ({ accountId, id }) => harness.sessions.find(liveTenant(accountId), id),
    outcomesOf: async (events) => {
      const rows = await database.query<{ id: Uuid; outcome: string | null }>(
        'SELECT id, outcome FROM card_events WHERE id = ANY ($1::uuid[])',
        [events.map(({ id }) => id)],
      );
      return events.map(({ id }) => rows.find((row) => row.id === id)?.outcome ?? null);
    },
    close: async () => {
      await cards.drain();
      await harness.close();
    },
  };
}

async function decideIn(
  tx: Executor,
  harness: SessionHarness,
  cards: CardStore,
  ids: readonly Uuid[],
): Promise<Decided> {
  const applied = await cards.applyEvents(tx, await cards.takeEvents(tx, ids));
  await harness.sessions.markRcsDelivered(
    tx,
    applied.chosen,
    applied.taps.map(({ cardId }) => cardId),
  );
  const ended: Uuid[] = [];
  for (const verdict of ['approve', 'deny'] as const) {
    const ofVerdict = applied.taps.filter((tap) => tap.verdict === verdict).map(({ cardId }) => cardId);
    const cause =
      verdict === 'approve'
        ? ({ trigger: 'approve', approvedBy: 'rcs' } as const)
        : ({ trigger: 'deny', approvedBy: null } as const);
    ended.push(...(await harness.sessions.applyCardDecision(tx, { mode: 'live', ids: ofVerdict, ...cause })).ended);
  }
  await cards.noteEnded(tx, applied.taps, ended);
  return { ...applied, ended };
}
