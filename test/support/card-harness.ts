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
import { runStatements } from '@countersign/postgres/statements';
import type { Session } from '@countersign/session/rules';
import { openCardStores, type CardStores, type CardStoresOptions } from './card-stores.js';
import { openSessionHarness, type SessionHarness, type SessionHarnessOptions } from './session-harness.js';
import { liveTenant } from './tenants.js';

export const AGENT = 'acme_agent';
/** Makes the names of events unique. */
let eventCount = 0;

/** Members of an event; defaults are those of the card. */
export type EventChanges = Partial<NewCardEvent> & { readonly name?: string };

/** A session harness with cards. */
export interface CardHarness extends SessionHarness {
  readonly cards: CardStores;
  readonly answers: CardAnswers;
  readonly originProcess: Uuid;
  /** The card stores of another process. */
  otherCards(options?: Partial<CardStoresOptions>): CardStores;
  /** A phone without any messages. */
  freshPhone(): string;
  /** A new session with the channel `sms_fallback`, and its card to be offered. */
  draftCard(changes?: Partial<NewCard>): Promise<NewCard>;
  /** An offered card. */
  offered(changes?: Partial<NewCard>): Promise<NewCard>;
  /** The card that a gateway claims, regardless of the age of the offer. */
  claim(id: Uuid): Promise<Card>;
  /** A claimed card. */
  sending(changes?: Partial<NewCard>): Promise<Card>;
  /** A card that the platform accepted. */
  sent(changes?: Partial<NewCard>): Promise<Card>;
  eventOf(card: NewCard, kind: CardEventKind, changes?: EventChanges): NewCardEvent;
  tapOn(card: NewCard, choice: Choice, changes?: EventChanges): NewCardEvent;
  /** Stores events, and processes the new ones as a gateway does. */
  storeAndProcess(...events: readonly NewCardEvent[]): Promise<Decided>;
  /** Processes stored events as a gateway does. */
  processEvents(ids: readonly Uuid[]): Promise<Decided>;
  cardOf(id: Uuid): Promise<CardRecord | undefined>;
  sessionOf(card: NewCard): Promise<Session | null>;
  outcomesOf(events: readonly NewCardEvent[]): Promise<(string | null)[]>;
}

/** The results of processed events, and the sessions that ended. */
export interface Decided extends AppliedEvents {
  readonly ended: readonly Uuid[];
}

export async function openCardHarness(options: SessionHarnessOptions = {}): Promise<CardHarness> {
  const harness = await openSessionHarness(options);
  const { database, clock, keys, account, brand } = harness;
  // Longer than any pause of a busy machine.
  const offerDeadlineMs = 10_000;
  const cards = openCardStores({ database, clock, keys, unreachableSeconds: 300, offerDeadlineMs });
  const originProcess = clock.newId();
  let phones = 0;
  const freshPhone = (): string => `+1415556${String(phones++).padStart(4, '0')}`;
  const draftCard = async (changes: Partial<NewCard> = {}): Promise<NewCard> => {
    const phone = changes.phone ?? freshPhone();
    const { id, expiresAt } = await harness.sessions.create(harness.draft({ phone }), changes.id);
    const card = {
      id,
      accountId: account.id,
      brandId: brand.id,
      originProcess,
      agentId: AGENT,
      phone,
      brandName: 'Acme',
    };
    return { ...card, logoUrl: null, numberMatching: false, keyVersion: 1, expiresAt, ...changes };
  };
  const offered = async (changes?: Partial<NewCard>): Promise<NewCard> => {
    const card = await draftCard(changes);
    const { kind } = await cards.offers.offerCard(card);
    if (kind !== 'offered') throw new Error(`the card was ${kind}`);
    return card;
  };
  const claim = async (id: Uuid): Promise<Card> => {
    await database.query(`UPDATE cards SET created_at = now() + interval '1 hour' WHERE id = $1`, [id]);
    const [card] = await cards.sends.claimOffers([id]);
    if (card === undefined) throw new Error('the card was not claimed');
    return card;
  };
  const sending = async (changes?: Partial<NewCard>): Promise<Card> => claim((await offered(changes)).id);
  const processEvents = (ids: readonly Uuid[]): Promise<Decided> =>
    database.transaction((tx) => processIn(tx, harness, cards, ids));
  const eventOf = (card: NewCard, kind: CardEventKind, { name, ...changes }: EventChanges = {}): NewCardEvent => {
    const occurredAt = changes.occurredAt ?? new Date(clock.nowMs());
    eventCount += 1;
    const id = newCardEventId(occurredAt.getTime(), name ?? `event ${eventCount}`, clock);
    const { agentId, phone } = card;
    const messageId = kind === 'tap' ? null : messageIdOf(card.id, 'card');
    return { id, kind, agentId, phone, messageId, cardId: null, choice: null, occurredAt, ...changes };
  };
  return {
    ...harness,
    cards,
    answers: new CardAnswers(keys),
    originProcess,
    otherCards: (other = {}) => openCardStores({ database, clock, keys, offerDeadlineMs, ...other }),
    freshPhone,
    draftCard,
    offered,
    claim,
    sending,
    sent: async (changes) => {
      const card = await sending(changes);
      await cards.sends.recordSendOutcomes([{ id: card.id, outcome: { kind: 'sent' } }]);
      return card;
    },
    eventOf,
    tapOn: (card, choice, changes) => eventOf(card, 'tap', { cardId: card.id, choice, ...changes }),
    storeAndProcess: async (...events) => processEvents(await cards.events.storeEvents(events)),
    processEvents,
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

async function processIn(
  tx: Executor,
  harness: SessionHarness,
  cards: CardStores,
  ids: readonly Uuid[],
): Promise<Decided> {
  const applied = await cards.events.applyEvents(tx, await cards.events.claimEvents(tx, ids));
  const tapped = applied.taps.map(({ cardId }) => cardId);
  await runStatements(tx, harness.sessions.markRcsDelivered(applied.rcsDelivered, tapped));
  const ended: Uuid[] = [];
  for (const verdict of ['approve', 'deny'] as const) {
    const ofVerdict = applied.taps.filter((tap) => tap.verdict === verdict).map(({ cardId }) => cardId);
    const cause =
      verdict === 'approve'
        ? ({ trigger: 'approve', approvedBy: 'rcs' } as const)
        : ({ trigger: 'deny', approvedBy: null } as const);
    ended.push(...(await harness.sessions.applyCardDecision(tx, { mode: 'live', ids: ofVerdict, ...cause })).ended);
  }
  await cards.events.recordTapResults(tx, applied.taps, ended);
  return { ...applied, ended };
}
