import type { CardEnd } from '../operations/control-plane.metrics.js';
import type { Brand } from '@countersign/accounts/accounts';
import { findCards, mayReachPhone, type CardOfferStore, type OfferResult } from '@countersign/rcs/offers';
import { SEND_LIFE_MS, type CardAnswers, type NewCard, type FinalChannel } from '@countersign/rcs/rules';
import { TOPICS, type PubSub, type Subscription } from '@countersign/bus';
import type { Uuid } from '@countersign/ids';
import { BatcherFull, DatabaseUnavailable, type Database } from '@countersign/postgres';
import type { Session } from '@countersign/session/rules';
import { DeadlineError, withinDeadline } from '@countersign/telemetry';
import type { PausedWait } from '../http/pause-deadline.decorator.js';
import { CardOutcomeReader } from './card-outcome-reader.js';
import { CardOutcomeWaits, parseCardOutcomes, type CardOutcomeWait } from './card-outcome-waits.js';

/** Deadline of the write of an offer. If the database is slower, the create continues without a card. */
const OFFER_MS = 400;
/**
 * From the offer of a card to the notification through the queue, if no outcome was received. A gateway that received the
 * broadcast has had the time to claim and send the card; a gateway that receives the notification has the rest.
 */
const BROADCAST_MS = 150;
/**
 * From the offer of a card to the deadline of its claim. With the statements before and after it, a create whose card no
 * gateway claims is answered within 500 ms, also on a busy machine.
 */
const CLAIM_MS = 350;
/** The same while the notifier is unavailable: the request may have spent 300 ms on finding that out. */
const QUEUE_AWAY_CLAIM_MS = 50;
/** From the offer of a card to the deadline of its send outcome: the claim, the send and the message back. */
const OUTCOME_MS = CLAIM_MS + SEND_LIFE_MS + 250;
/** The wait for a delivery is at most one fourth of the life of the session. */
const DELIVERY_SHARE_OF_SESSION = 4;
/** Shortest life of a card. The platform requires 10 s; it may deliver a card with a shorter life after its end. */
const SHORTEST_CARD_MS = 10_000;
/** Concurrently waiting creates at most. Further creates send no card. */
const MAX_WAITING = 10_000;
/** Grace of a wait before the request is aborted, because timers fire late on a busy machine. */
const TIMER_GRACE_MS = 1_000;

/** The result of a card for its create. */
export interface DecidedCard {
  readonly channel: FinalChannel;
  /** The number that the browser shows; null without number matching, or if no card can arrive. */
  readonly matchCode: string | null;
}

export interface RcsOfferServiceOptions {
  readonly store: Pick<CardOfferStore, 'offerCard' | 'withdrawUnclaimed' | 'settleChannel'>;
  readonly answers: Pick<CardAnswers, 'matchCodeOf'>;
  readonly database: Pick<Database, 'query'>;
  readonly bus: Pick<PubSub, 'subscribe'>;
  /** Id of this process, to which gateways send outcomes. */
  readonly originProcess: Uuid;
  /** How long a create waits for the delivery of a sent card. */
  readonly deliveryWaitMs: number;
  readonly nowMs: () => number;
  /**
   * Broadcasts offers to all gateways, after the commit: faster than the queue, but messages can be lost. Must not throw.
   */
  readonly broadcast: (ids: readonly Uuid[]) => void;
  /** Notifies one gateway through the queue of an offer or a revoke, after the commit. Must not throw. */
  readonly notify: (ids: readonly Uuid[]) => void;
  /** Whether the store of the notification queue is unavailable. */
  readonly isQueueAway: () => boolean;
  readonly onEnd: (end: CardEnd, tookMs: number) => void;
  /** Called with errors that prevented the send of a card. */
  readonly onError: (error: unknown) => void;
}

/** The result of a wait. `'unknown'`: the card's row must be read to know whether the card may still arrive. */
interface Decision {
  readonly end: CardEnd;
  readonly mayArrive: boolean | 'unknown';
}

/** The limits of a wait. */
interface WaitLimits {
  readonly pausedWait: PausedWait;
  readonly deliveryWaitMs: number;
}

const ARRIVED: Decision = { end: 'rcs', mayArrive: true };
const LATE: Decision = { end: 'not_delivered', mayArrive: 'unknown' };
const NOT_SENT: Decision = { end: 'not_sent', mayArrive: 'unknown' };
const NOT_CLAIMED: Decision = { end: 'not_taken', mayArrive: false };
const FAILED: Decision = { end: 'failed', mayArrive: false };

/**
 * Sends the card of a new session through the gateways, and delays the answer of its create until it is known whether the
 * card arrived. Outcome messages of gateways over the bus are hints that save time: the channel is read from the card's
 * row, and at each deadline the row decides under a lock, so that gateway and create agree on one channel. Errors of cards
 * do not fail a create, except an unavailable database when the row must decide, because the answer could be wrong.
 */
export class RcsOfferService {
  private readonly waits = new CardOutcomeWaits();
  private readonly toBroadcast: Uuid[] = [];
  private readonly subscription: Subscription;

  constructor(private readonly o: RcsOfferServiceOptions) {
    const find = (ids: readonly Uuid[]): ReturnType<typeof findCards> => findCards(o.database, ids);
    const reader = new CardOutcomeReader({ waits: this.waits, find, onError: o.onError });
    this.subscription = o.bus.subscribe(TOPICS.cardOutcomes(o.originProcess), (message) =>
      reader.receive(parseCardOutcomes(message.json())),
    );
  }

  /** The number of waiting creates. */
  get waiting(): number {
    return this.waits.size;
  }

  /**
   * Offers the card of a session and decides its channel. If an earlier attempt of the same request decided the channel,
   * that decision stays.
   */
  async sendCard(session: Session, brand: Brand, pausedWait: PausedWait): Promise<DecidedCard> {
    const card = this.cardOf(session, brand);
    if (card === null) return { channel: session.channel, matchCode: null };
    const startedMs = performance.now();
    const wait = this.waits.open(card.id);
    const livesMs = session.expiresAt.getTime() - session.createdAt.getTime();
    const deliveryWaitMs = Math.min(this.o.deliveryWaitMs, livesMs / DELIVERY_SHARE_OF_SESSION);
    try {
      const decision = await this.decide(card, wait, { pausedWait, deliveryWaitMs });
      this.o.onEnd(decision.end, performance.now() - startedMs);
      const matchCode = (await this.mustShowNumber(card, decision)) ? this.o.answers.matchCodeOf(card) : null;
      return { channel: decision.end === 'rcs' ? 'rcs' : session.channel, matchCode };
    } finally {
      wait.close();
    }
  }

  /** Ends all waits, so that waiting creates are decided at once. */
  stop(): void {
    this.waits.endAll();
    this.subscription.close();
  }

  /** The card to offer; null if no card is to be sent. */
  private cardOf({ id, accountId, phone, keyVersion, expiresAt }: Session, brand: Brand): NewCard | null {
    const agentId = brand.rcsAgentId;
    if (agentId === null || this.waits.size >= MAX_WAITING) return null;
    if (expiresAt.getTime() - this.o.nowMs() < SHORTEST_CARD_MS) return null;
    const { id: brandId, name: brandName, logoUrl, rcsNumberMatching: numberMatching } = brand;
    const { originProcess } = this.o;
    const recipient = { id, accountId, brandId, originProcess, agentId, phone };
    return { ...recipient, brandName, logoUrl, numberMatching, keyVersion, expiresAt };
  }

  private async decide(card: NewCard, wait: CardOutcomeWait, limits: WaitLimits): Promise<Decision> {
    const offer = await this.writeOffer(card);
    if (offer === null) return FAILED;
    if (offer.kind === 'refused') return { end: offer.because, mayArrive: false };
    try {
      // The earlier attempt has waited already, so this attempt does not wait again.
      if (offer.kind === 'earlier') return decisionOf(offer.finalChannel ?? (await this.settleChannel(card.id)));
      return await this.waitForOutcome(card, wait, limits);
    } catch (error) {
      if (error instanceof DatabaseUnavailable || error instanceof BatcherFull) throw error;
      this.o.onError(error);
      return FAILED;
    }
  }

  /** Null if the offer failed or was late. A late offer is settled without a notification, so its card is never sent. */
  private async writeOffer(card: NewCard): Promise<OfferResult | null> {
    const { store, onError } = this.o;
    let late = false;
    const offering = store.offerCard(card).then(async (result) => {
      if (late && result.kind === 'offered') await store.settleChannel(card.id);
      return result;
    });
    try {
      return await withinDeadline(OFFER_MS, () => offering);
    } catch (error) {
      late = true;
      onError(error);
      if (error instanceof DeadlineError) offering.catch(onError);
      return null;
    }
  }

  /**
   * Broadcasts the offer; notifies one gateway if no outcome follows, or at once while the queue's store is unavailable.
   */
  private async waitForOutcome(
    { id }: NewCard,
    wait: CardOutcomeWait,
    { pausedWait, deliveryWaitMs }: WaitLimits,
  ): Promise<Decision> {
    const { store } = this.o;
    const startedMs = performance.now();
    const next = (untilMs: number) =>
      pausedWait(Math.max(0, untilMs - performance.now()) + TIMER_GRACE_MS, () => wait.next(untilMs));
    const queueAway = this.o.isQueueAway();
    this.broadcast(id);
    let outcome = queueAway ? null : await next(startedMs + BROADCAST_MS);
    if (outcome === null) {
      this.o.notify([id]);
      outcome = await next(startedMs + (queueAway ? QUEUE_AWAY_CLAIM_MS : CLAIM_MS));
    }
    if (outcome === null) {
      const found = await store.withdrawUnclaimed(id);
      if (found === 'withdrawn') return NOT_CLAIMED;
      outcome = found === 'claimed' ? await next(startedMs + OUTCOME_MS) : found;
    }
    if (outcome === 'sent') outcome = await next(performance.now() + deliveryWaitMs);
    if (outcome === 'rcs' || outcome === 'sms_fallback') return decisionOf(outcome);
    return (await this.settleChannel(id)) === 'rcs' ? ARRIVED : LATE;
  }

  /** Collects the offers of one batch, which commit in the same turn of the event loop, into one broadcast. */
  private broadcast(id: Uuid): void {
    this.toBroadcast.push(id);
    if (this.toBroadcast.length === 1) process.nextTick(() => this.o.broadcast(this.toBroadcast.splice(0)));
  }

  /** Decides the channel in the card's row. An undelivered card is revoked at once, before its phone is online again. */
  private async settleChannel(id: Uuid): Promise<FinalChannel> {
    const finalChannel = await this.o.store.settleChannel(id);
    if (finalChannel === 'sms_fallback') this.o.notify([id]);
    return finalChannel;
  }

  private async mustShowNumber({ id, numberMatching }: NewCard, { mayArrive }: Decision): Promise<boolean> {
    if (!numberMatching || mayArrive !== 'unknown') return numberMatching && mayArrive === true;
    try {
      const card = (await findCards(this.o.database, [id])).get(id);
      return card !== undefined && mayReachPhone(card);
    } catch (error) {
      this.o.onError(error);
      return true;
    }
  }
}

const decisionOf = (finalChannel: FinalChannel): Decision => (finalChannel === 'rcs' ? ARRIVED : NOT_SENT);
