import { CardOfferStore, type OfferResult } from '@countersign/rcs/offers';
import { SEND_LIFE_MS, type FinalChannel, type NewCard } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { BatcherFull, DatabaseUnavailable } from '@countersign/postgres';
import { ControlPlaneSettings } from '@countersign/settings';
import { DeadlineError, withinDeadline } from '@countersign/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import type { PausedWait } from '../http/pause-deadline.decorator.js';
import { FailureLog } from '../operations/failure-log.js';
import { decisionOf, FAILED, LATE, NOT_CLAIMED, type CardDecision } from './card-decision.js';
import type { CardOutcomeWait } from './card-outcome-waits.js';
import { OfferNotifier } from './offer.notifier.js';

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
/** Grace of a wait before the request is aborted, because timers fire late on a busy machine. */
const TIMER_GRACE_MS = 1_000;

/** The limits of a wait. */
export interface WaitLimits {
  readonly pausedWait: PausedWait;
  /** Life of the session in milliseconds. */
  readonly livesMs: number;
}

/**
 * Offers a card to the gateways and decides its channel: by the outcomes that gateways report, and at each deadline by the
 * card's row under a lock, so that gateway and create agree on one channel.
 */
@Injectable()
export class CardDecisionService {
  private readonly onError: (error: unknown) => void;

  constructor(
    @Inject(CardOfferStore)
    private readonly store: Pick<CardOfferStore, 'offerCard' | 'withdrawUnclaimed' | 'settleChannel'>,
    private readonly notifier: OfferNotifier,
    @Inject(ControlPlaneSettings) private readonly settings: Pick<ControlPlaneSettings, 'rcsDeliveryWaitMs'>,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.onError = failures.about('sending a card');
  }

  /** Offers the card and decides its channel. Rejects only when the database that must decide is unavailable. */
  async decide(card: NewCard, wait: CardOutcomeWait, limits: WaitLimits): Promise<CardDecision> {
    const offer = await this.writeOffer(card);
    if (offer === null) return FAILED;
    if (offer.kind === 'refused') return { end: offer.because, mayArrive: false };
    try {
      // The earlier attempt has waited already, so this attempt does not wait again.
      if (offer.kind === 'earlier') return decisionOf(offer.finalChannel ?? (await this.settleChannel(card.id)));
      return await this.waitForOutcome(card, wait, limits);
    } catch (error) {
      if (error instanceof DatabaseUnavailable || error instanceof BatcherFull) throw error;
      this.onError(error);
      return FAILED;
    }
  }

  /** Null if the offer failed or was late. A late offer is settled without a notification, so its card is never sent. */
  private async writeOffer(card: NewCard): Promise<OfferResult | null> {
    const { store, onError } = this;
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
    { pausedWait, livesMs }: WaitLimits,
  ): Promise<CardDecision> {
    const { store, notifier } = this;
    const startedMs = performance.now();
    const next = (untilMs: number) =>
      pausedWait(Math.max(0, untilMs - performance.now()) + TIMER_GRACE_MS, () => wait.next(untilMs));
    const queueAway = notifier.isQueueAway;
    notifier.broadcast(id);
    let outcome = queueAway ? null : await next(startedMs + BROADCAST_MS);
    if (outcome === null) {
      notifier.notify([id]);
      outcome = await next(startedMs + (queueAway ? QUEUE_AWAY_CLAIM_MS : CLAIM_MS));
    }
    if (outcome === null) {
      const found = await store.withdrawUnclaimed(id);
      if (found === 'withdrawn') return NOT_CLAIMED;
      outcome = found === 'claimed' ? await next(startedMs + OUTCOME_MS) : found;
    }
    if (outcome === 'sent') outcome = await next(performance.now() + this.deliveryWaitMs(livesMs));
    if (outcome === 'rcs' || outcome === 'sms_fallback') return decisionOf(outcome);
    return (await this.settleChannel(id)) === 'rcs' ? decisionOf('rcs') : LATE;
  }

  /** Decides the channel in the card's row. An undelivered card is revoked at once, before its phone is online again. */
  private async settleChannel(id: Uuid): Promise<FinalChannel> {
    const finalChannel = await this.store.settleChannel(id);
    if (finalChannel === 'sms_fallback') this.notifier.notify([id]);
    return finalChannel;
  }

  /** How long a create waits for the delivery of a sent card. */
  private deliveryWaitMs(livesMs: number): number {
    return Math.min(this.settings.rcsDeliveryWaitMs, livesMs / DELIVERY_SHARE_OF_SESSION);
  }
}
