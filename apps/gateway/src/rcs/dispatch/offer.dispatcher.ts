import { setTimeout as delay } from 'node:timers/promises';
import type { AddressedCardOutcome, CardSendStore } from '@countersign/rcs/offers';
import { OFFER_LIFE_MS, type Card, type SendOutcome } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { Batcher } from '@countersign/postgres';
import { DeliveryGrace } from './delivery-grace.js';

/** Sends in flight; offers beyond this are left to other gateways or fall back to SMS. */
const MAX_IN_FLIGHT = 2_000;
/** Time to record the outcome of a send; the create has been answered long before it ends. */
const RECORD_DEADLINE_MS = 10_000;
const RECORD_RETRY_MS = 250;

export interface OfferDispatcherOptions {
  readonly sends: Pick<CardSendStore, 'claimOffers' | 'recordSendOutcomes'>;
  /** Must not reject. */
  readonly send: (card: Card) => Promise<SendOutcome>;
  readonly maxBatch: number;
  /** Called after the commit with outcomes for waiting creates. Must neither throw nor wait. */
  readonly onCardOutcomes: (outcomes: readonly AddressedCardOutcome[]) => void;
  /** Called after the commit when a card that may still arrive is to be revoked. Must neither throw nor wait. */
  readonly onRevokeDue: () => void;
  /** Called with the outcome and the duration of every send. */
  readonly onOutcome: (outcome: SendOutcome, seconds: number) => void;
  /** Called with the number of offers that were not claimed because too many sends are in flight. */
  readonly onShed: (count: number) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Claims offers, sends them to the platform and records the outcomes. The create that made an offer withdraws it when no
 * gateway claims it in time, and settles a card whose gateway failed; so unclaimed offers need no polling. During a send
 * no transaction is open and no job is held.
 */
export class OfferDispatcher {
  private readonly claims: Batcher<Uuid, Card | null>;
  private readonly inFlight = new Set<Promise<void>>();
  private readonly grace = new DeliveryGrace();
  private stopped = false;

  constructor(private readonly o: OfferDispatcherOptions) {
    this.claims = new Batcher({
      name: 'cards.claim',
      run: (ids) => this.claimBatch(ids),
      keysOf: (id) => [id],
      maxBatch: o.maxBatch,
      maxInFlight: 2,
      maxQueued: MAX_IN_FLIGHT,
      deadlineMs: OFFER_LIFE_MS,
    });
  }

  /** Sends in flight. */
  get sending(): number {
    return this.inFlight.size;
  }

  /**
   * Claims those of these cards that are on offer, and starts their sends. Resolves once they are claimed, with the ids that
   * this gateway did not claim. Never rejects.
   */
  async claimAndSend(ids: readonly Uuid[]): Promise<readonly Uuid[]> {
    const capacity = this.stopped ? 0 : Math.max(0, MAX_IN_FLIGHT - this.inFlight.size);
    if (ids.length > capacity) this.o.onShed(ids.length - capacity);
    const unclaimed = await Promise.all(
      ids.slice(0, capacity).map(async (id) => ((await this.claimOffer(id)) ? [] : [id])),
    );
    return [...unclaimed.flat(), ...ids.slice(capacity)];
  }

  /** The deliveries of these cards are committed: their sends need no record. */
  markDelivered(ids: readonly Uuid[]): void {
    this.grace.markDelivered(ids);
  }

  /** Claims no further offers. */
  stopClaiming(): void {
    this.stopped = true;
  }

  /** Resolves once every claimed card is sent and its outcome recorded. */
  async drain(): Promise<void> {
    await this.claims.drain();
    await Promise.all(this.inFlight);
  }

  private async claimOffer(id: Uuid): Promise<boolean> {
    try {
      const card = await this.claims.add(id);
      if (card === null) return false;
      this.startSend(card);
      return true;
    } catch (error) {
      this.o.onError(error);
      return false;
    }
  }

  private async claimBatch(ids: readonly Uuid[]): Promise<(Card | null)[]> {
    const cards = new Map((await this.o.sends.claimOffers(ids)).map((card) => [card.id, card]));
    return ids.map((id) => cards.get(id) ?? null);
  }

  private startSend(card: Card): void {
    const sent = this.sendCard(card).finally(() => this.inFlight.delete(sent));
    this.inFlight.add(sent);
  }

  /** Sends a card and records the outcome, unless its delivery is stored first. Never rejects. */
  private async sendCard(card: Card): Promise<void> {
    const startMs = performance.now();
    const outcome = await this.o.send(card);
    const endMs = performance.now();
    this.o.onOutcome(outcome, (endMs - startMs) / 1_000);
    if (outcome.kind === 'sent' && (await this.grace.waitForDelivery(card.id))) return;
    await this.recordOutcome(card.id, outcome, endMs + RECORD_DEADLINE_MS);
  }

  private async recordOutcome(id: Uuid, outcome: SendOutcome, deadlineMs: number): Promise<void> {
    for (;;) {
      try {
        const recorded = await this.o.sends.recordSendOutcomes([{ id, outcome }]);
        this.o.onCardOutcomes(recorded);
        if (mayArrive(outcome) && recorded.some(({ news }) => news === 'sms_fallback')) this.o.onRevokeDue();
        return;
      } catch (error) {
        this.o.onError(error);
        // Not recorded: the card stays `sending`; events of the platform are applied to it all the same.
        if (performance.now() + RECORD_RETRY_MS > deadlineMs) return;
        await delay(RECORD_RETRY_MS);
      }
    }
  }
}

const mayArrive = ({ kind }: SendOutcome): boolean => kind === 'sent' || kind === 'unknown';
