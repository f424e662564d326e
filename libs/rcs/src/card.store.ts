import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { Database, DatabaseClock, Executor } from '@countersign/postgres';
import type { Card, NewCard, FinalChannel } from './rules/card.js';
import { CardArrivals, type JudgedArrivals } from './events/card-arrivals.js';
import { RbmCommands } from './commands/rbm-commands.js';
import type { RbmCommand } from './commands/rbm-commands.sql.js';
import type { CardEvent, CardTap, NewCardEvent } from './rules/card-event.js';
import { CardEvents, type AppliedEvents } from './events/card-events.js';
import { CardOffers, type OfferResult, type Withdrawal } from './offers/card-offers.js';
import { CardSends, type AddressedCardOutcome, type SentCard } from './offers/card-sends.js';
import { CardAnswers } from './rules/card-answers.js';
import type { VerdictOf } from './rules/judge-events.js';

const DEFAULT_MAX_BATCH = 64;
const DEFAULT_MAX_IN_FLIGHT = 2;
const MAX_QUEUED_COMMANDS = 4096;
/** A request waits for the answer: a card that cannot be offered in this time is not worth waiting for. */
const DEFAULT_OFFER_DEADLINE_MS = 500;

export interface CardStoreOptions {
  readonly database: Pick<Database, 'query' | 'transaction' | 'readThenWrite'>;
  readonly clock: DatabaseClock;
  readonly keys: ServerKeys;
  /** How long a phone that an agent could not reach gets no card of it. Default 0: every time it is tried. */
  readonly unreachableSeconds?: number;
  /** An offer is answered within this time; one that was not may be committed all the same, and is to be settled. Default 500. */
  readonly offerDeadlineMs?: number;
  readonly batch?: { readonly maxBatch: number; readonly maxInFlight: number };
}

/**
 * The one door to cards. The row of a card is what decides on a session's channel, once: whoever settles it first holds
 * its lock. Locks are taken in one order everywhere: cards by id, what agents know of phones, sessions by id, phones; an
 * offer alone begins with its phone, and its card is not there yet.
 */
export class CardStore {
  private readonly offers: CardOffers;
  private readonly sends: CardSends;
  private readonly events: CardEvents;
  private readonly arrivals: CardArrivals;
  private readonly commands: RbmCommands;

  constructor({ database, clock, keys, unreachableSeconds = 0, batch, ...options }: CardStoreOptions) {
    const { offerDeadlineMs = DEFAULT_OFFER_DEADLINE_MS } = options;
    const { maxBatch = DEFAULT_MAX_BATCH, maxInFlight = DEFAULT_MAX_IN_FLIGHT } = batch ?? {};
    const bounds = { maxBatch, maxInFlight, maxQueued: MAX_QUEUED_COMMANDS };
    const answers = new CardAnswers(keys);
    this.offers = new CardOffers({ database, unreachableSeconds, offerDeadlineMs, bounds });
    this.sends = new CardSends({ database, bounds });
    const verdictOf: VerdictOf = (card, choice) => answers.verdictOf(card, choice);
    this.events = new CardEvents({ database, clock, verdictOf });
    this.arrivals = new CardArrivals(clock, verdictOf);
    this.commands = new RbmCommands(database, clock);
  }

  /**
   * Offers a card to whichever gateway takes it, unless something speaks against it (contract, RCS in short). One of a
   * session that has a card already counts nothing and sends nothing.
   */
  offer(card: NewCard): Promise<OfferResult> {
    return this.offers.offer(card);
  }

  /** Takes a card back that no gateway has taken; its session falls back to SMS. Else says how it stands. */
  withdrawUnclaimed(id: Uuid): Promise<Withdrawal> {
    return this.offers.withdrawUnclaimed(id);
  }

  /** The channel, once and for all: SMS, and the card revoked where it may still arrive, unless it was settled before. */
  settle(id: Uuid): Promise<FinalChannel> {
    return this.offers.settle(id);
  }

  /** Cards of sessions that ended are to be revoked where they may still arrive. Answers which: ring the bell with them. */
  revokeEnded(tx: Executor, sessionIds: readonly Uuid[]): Promise<Uuid[]> {
    return this.offers.revokeEnded(tx, sessionIds);
  }

  /** Takes cards that were offered just now, to be sent. A doubled or late job gets none. */
  claimOffers(ids: readonly Uuid[]): Promise<Card[]> {
    return this.sends.claimOffers(ids);
  }

  /** Records what became of sends and answers what those who wait should hear. */
  recordOutcomes(sent: readonly SentCard[]): Promise<AddressedCardOutcome[]> {
    return this.sends.recordOutcomes(sent);
  }

  /** Stores what the platform told and answers the ids that were not there before. */
  storeEvents(events: readonly NewCardEvent[]): Promise<Uuid[]> {
    return this.events.store(events);
  }

  /**
   * What events that are not stored yet come to where they say no more than that a card has arrived, and nobody else holds
   * that card: the channels of `chosen`, and `storeArrivals`, in the same transaction.
   */
  judgeArrivals(tx: Executor, events: readonly NewCardEvent[]): Promise<JudgedArrivals> {
    return this.arrivals.judge(tx, events);
  }

  /** Stores all of these events, and what was judged of them. Answers the new ones that are still to be acted on. */
  storeArrivals(tx: Executor, judged: JudgedArrivals): Promise<Uuid[]> {
    return this.arrivals.store(tx, judged);
  }

  /** Takes events that nobody has handled, of those named or the oldest of all, until the transaction ends. */
  takeEvents(tx: Executor, which: readonly Uuid[] | { readonly limit: number }): Promise<CardEvent[]> {
    return 'limit' in which ? this.events.takeOldest(tx, which.limit) : this.events.take(tx, which);
  }

  /** Applies events that were taken in the same transaction, and says what their session should be told in it. */
  applyEvents(tx: Executor, events: readonly CardEvent[]): Promise<AppliedEvents> {
    return this.events.apply(tx, events);
  }

  /**
   * After the sessions were decided, in the same transaction: which of the taps really ended theirs. These are answered by
   * a short text, and denials count against further cards.
   */
  noteEnded(tx: Executor, taps: readonly CardTap[], ended: readonly Uuid[]): Promise<void> {
    return this.events.noteEnded(tx, taps, ended);
  }

  /** Takes errands that are due. One that is neither done nor failed within the lease is due once more. */
  takeCommands(limit: number, leaseSeconds: number): Promise<RbmCommand[]> {
    return this.commands.take(limit, leaseSeconds);
  }

  commandDone(errand: Pick<RbmCommand, 'id' | 'kind'>): Promise<void> {
    return this.commands.done(errand);
  }

  /** It is tried once more after a second, and then given up. */
  commandFailed(errand: Pick<RbmCommand, 'id' | 'kind'>): Promise<void> {
    return this.commands.failed(errand);
  }

  /** How long until an errand falls due, 0 when one is; null when there is none. */
  msToNextCommand(): Promise<number | null> {
    return this.commands.msToNext();
  }

  /** Forgets what is known of phones that had nothing to do with cards for a day; as many as the limit: call again. */
  forgetStale(limit: number): Promise<number> {
    return this.offers.forgetStale(limit);
  }

  /** Waits until every command taken in has been answered. */
  async drain(): Promise<void> {
    await Promise.all([this.offers.drain(), this.sends.drain()]);
  }
}
