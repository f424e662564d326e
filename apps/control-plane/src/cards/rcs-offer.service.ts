import type { CardEnd } from '../operations/control-plane.metrics.js';
import type { Brand } from '@countersign/accounts/accounts';
import type { CardStore } from '@countersign/rcs';
import { findCards, mayReachPhone, type OfferResult } from '@countersign/rcs/offers';
import { cardTopic, SEND_LIFE_MS, type CardAnswers, type NewCard, type FinalChannel } from '@countersign/rcs/rules';
import type { PubSub, Subscription } from '@countersign/bus';
import type { Uuid } from '@countersign/ids';
import { BatcherFull, DatabaseUnavailable, type Database } from '@countersign/postgres';
import type { Session } from '@countersign/session/rules';
import { DeadlineError, withinDeadline } from '@countersign/telemetry';
import type { PausedWait } from '../http/pause-deadline.decorator.js';
import { CardOutcomeReader } from './card-outcome-reader.js';
import { CardOutcomeWaits, parseCardOutcomes, type CardOutcomeWait } from './card-outcome-waits.js';

/** What writing an offer may take; a database that is slower than this is not waited for. */
const OFFER_MS = 400;
/**
 * From its offer until the bell rings for a card of which nothing is heard: whoever was called over the bus has had the
 * time to take it and send it, and a gateway that hears the bell has the rest.
 */
const CALL_MS = 150;
/**
 * From its offer until a gateway must have taken a card: with the statements before and after it, a create whose card
 * nobody takes is answered within 500 ms, on a busy machine too.
 */
const CLAIM_MS = 350;
/** The same when nobody is likely to hear of it: the request may have spent 300 ms on finding that out. */
const UNCLAIMED_OFFER_MS = 50;
/** From its offer until the outcome of its send must be known: the claim, the send, and the way back. */
const OUTCOME_MS = CLAIM_MS + SEND_LIFE_MS + 250;
/** The wait for a delivery takes no more of a session than this. */
const DELIVERY_SHARE_OF_SESSION = 4;
/** A card that would expire sooner is not sent: the platform asks for 10 s, below which it may still deliver it. */
const SHORTEST_CARD_MS = 10_000;
/** Creates that wait at the same time, at most; the others do without a card. */
const MAX_WAITING = 10_000;
/** What a wait may overrun before the request is given up: timers fire late on a busy machine. */
const TIMER_GRACE_MS = 1_000;

/** What a create is told of its card. */
export interface DecidedCard {
  readonly channel: FinalChannel;
  /** The number that the browser shows; null without number matching, and where no card can come. */
  readonly matchCode: string | null;
}

export interface RcsOfferServiceOptions {
  readonly store: Pick<CardStore, 'offer' | 'withdrawUnclaimed' | 'settle'>;
  readonly answers: Pick<CardAnswers, 'matchCodeOf'>;
  readonly database: Pick<Database, 'query'>;
  readonly bus: Pick<PubSub, 'subscribe'>;
  /** This process, among all that wait. */
  readonly waiter: Uuid;
  /** How long a create waits for the delivery of a card that the platform took. */
  readonly deliveryWaitMs: number;
  readonly nowMs: () => number;
  /** Calls all gateways for offers, after the commit: sooner heard than the bell, and sooner lost. Must not throw. */
  readonly call: (ids: readonly Uuid[]) => void;
  /** Wakes a gateway, after the commit, for an offer or a revoke. Must not throw. */
  readonly notify: (ids: readonly Uuid[]) => void;
  /** What carries the bell does not answer at the moment. */
  readonly isUnclaimed: () => boolean;
  readonly onEnd: (end: CardEnd, tookMs: number) => void;
  /** Hears of whatever kept a card from being sent. */
  readonly onError: (error: unknown) => void;
}

/** What is known when the wait is over; whether the card may still arrive is asked of its row where it is not clear. */
interface Decision {
  readonly end: CardEnd;
  readonly mayArrive: boolean | 'ask';
}

/** How a create may wait. */
interface Terms {
  readonly patience: PausedWait;
  readonly deliveryWaitMs: number;
}

const COMES: Decision = { end: 'rcs', mayArrive: true };
const LATE: Decision = { end: 'not_delivered', mayArrive: 'ask' };
const NOT_SENT: Decision = { end: 'not_sent', mayArrive: 'ask' };
const NOT_TAKEN: Decision = { end: 'not_taken', mayArrive: false };
const FAILED: Decision = { end: 'failed', mayArrive: false };

/**
 * Sends the card of a new session by way of the gateways, and holds its create back until it is known whether it
 * arrived. What gateways tell over the bus is a hint that saves time: the channel is read from the card's row, and at each
 * deadline the row decides, under a lock, so that both sides always come to one channel. Nothing about cards fails a create but a database that is away
 * when the row must decide: what is answered then might not be true.
 */
export class RcsOfferService {
  private readonly waits = new CardOutcomeWaits();
  private readonly called: Uuid[] = [];
  private readonly subscription: Subscription;

  constructor(private readonly o: RcsOfferServiceOptions) {
    const find = (ids: readonly Uuid[]): ReturnType<typeof findCards> => findCards(o.database, ids);
    const reader = new CardOutcomeReader({ waits: this.waits, find, onError: o.onError });
    this.subscription = o.bus.subscribe(cardTopic(o.waiter), (message) =>
      reader.hear(parseCardOutcomes(message.json())),
    );
  }

  /** Creates that wait. */
  get waiting(): number {
    return this.waits.size;
  }

  /**
   * Decides the channel of a session that was just made, or made by an earlier attempt of the same request; what that
   * one decided stays, also where nothing more is heard of its card.
   */
  async send(session: Session, brand: Brand, patience: PausedWait): Promise<DecidedCard> {
    const card = this.cardOf(session, brand);
    if (card === null) return { channel: session.channel, matchCode: null };
    const startedMs = performance.now();
    const wait = this.waits.open(card.id);
    const livesMs = session.expiresAt.getTime() - session.createdAt.getTime();
    const deliveryWaitMs = Math.min(this.o.deliveryWaitMs, livesMs / DELIVERY_SHARE_OF_SESSION);
    try {
      const decision = await this.decide(card, wait, { patience, deliveryWaitMs });
      this.o.onEnd(decision.end, performance.now() - startedMs);
      const matchCode = (await this.showsNumber(card, decision)) ? this.o.answers.matchCodeOf(card) : null;
      return { channel: decision.end === 'rcs' ? 'rcs' : session.channel, matchCode };
    } finally {
      wait.close();
    }
  }

  /** Every create that waits is decided now, and no other waits. */
  stop(): void {
    this.waits.hurry();
    this.subscription.close();
  }

  /** Null where none is to be sent. */
  private cardOf({ id, accountId, phone, keyVersion, expiresAt }: Session, brand: Brand): NewCard | null {
    const agentId = brand.rcsAgentId;
    if (agentId === null || this.waits.size >= MAX_WAITING) return null;
    if (expiresAt.getTime() - this.o.nowMs() < SHORTEST_CARD_MS) return null;
    const { id: brandId, name: brandName, logoUrl, rcsNumberMatching: numberMatching } = brand;
    const { waiter } = this.o;
    const recipient = { id, accountId, brandId, waiter, agentId, phone };
    return { ...recipient, brandName, logoUrl, numberMatching, keyVersion, expiresAt };
  }

  private async decide(card: NewCard, wait: CardOutcomeWait, terms: Terms): Promise<Decision> {
    const offer = await this.offer(card);
    if (offer === null) return FAILED;
    if (offer.kind === 'refused') return { end: offer.because, mayArrive: false };
    try {
      // Whoever waited for an earlier attempt has gone: there is nothing more to wait for.
      if (offer.kind === 'earlier') return told(offer.finalChannel ?? (await this.settle(card.id)));
      return await this.watch(card, wait, terms);
    } catch (error) {
      if (error instanceof DatabaseUnavailable || error instanceof BatcherFull) throw error;
      this.o.onError(error);
      return FAILED;
    }
  }

  /** Null when it could not be offered, or not in time: one that is written later is never rung for, and so never sent. */
  private async offer(card: NewCard): Promise<OfferResult | null> {
    const { store, onError } = this.o;
    let late = false;
    const offering = store.offer(card).then(async (result) => {
      if (late && result.kind === 'offered') await store.settle(card.id);
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

  /** The bell rings where nothing is heard of a card that was called for, and at once where nobody hears a call. */
  private async watch({ id }: NewCard, wait: CardOutcomeWait, { patience, deliveryWaitMs }: Terms): Promise<Decision> {
    const { store } = this.o;
    const startedMs = performance.now();
    const next = (untilMs: number) =>
      patience(Math.max(0, untilMs - performance.now()) + TIMER_GRACE_MS, () => wait.next(untilMs));
    const unclaimed = this.o.isUnclaimed();
    this.call(id);
    let word = unclaimed ? null : await next(startedMs + CALL_MS);
    if (word === null) {
      this.o.notify([id]);
      word = await next(startedMs + (unclaimed ? UNCLAIMED_OFFER_MS : CLAIM_MS));
    }
    if (word === null) {
      const found = await store.withdrawUnclaimed(id);
      if (found === 'withdrawn') return NOT_TAKEN;
      word = found === 'claimed' ? await next(startedMs + OUTCOME_MS) : found;
    }
    if (word === 'sent') word = await next(performance.now() + deliveryWaitMs);
    if (word === 'rcs' || word === 'sms_fallback') return told(word);
    return (await this.settle(id)) === 'rcs' ? COMES : LATE;
  }

  /** Offers of one batch are one call: they go on in the same turn, and this comes after it. */
  private call(id: Uuid): void {
    this.called.push(id);
    if (this.called.length === 1) process.nextTick(() => this.o.call(this.called.splice(0)));
  }

  /** One that nobody waits for any more is revoked at once, before its phone comes back. */
  private async settle(id: Uuid): Promise<FinalChannel> {
    const finalChannel = await this.o.store.settle(id);
    if (finalChannel === 'sms_fallback') this.o.notify([id]);
    return finalChannel;
  }

  private async showsNumber({ id, numberMatching }: NewCard, { mayArrive }: Decision): Promise<boolean> {
    if (!numberMatching || mayArrive !== 'ask') return numberMatching && mayArrive === true;
    try {
      const card = (await findCards(this.o.database, [id])).get(id);
      return card !== undefined && mayReachPhone(card);
    } catch (error) {
      this.o.onError(error);
      return true;
    }
  }
}

const told = (finalChannel: FinalChannel): Decision => (finalChannel === 'rcs' ? COMES : NOT_SENT);
