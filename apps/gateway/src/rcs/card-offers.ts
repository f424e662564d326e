import { setTimeout as delay } from 'node:timers/promises';
import type { CardStore } from '@countersign/rcs';
import type { AddressedCardOutcome } from '@countersign/rcs/offers';
import { OFFER_LIFE_MS, type Card, type SendOutcome } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { Batcher } from '@countersign/postgres';
import { DeliveryGrace } from './delivery-grace.js';

/** Cards on their way at the same time; what is rung beyond that is left to other gateways, or to SMS. */
const MAX_UNDER_WAY = 2_000;
/** A send has been made and cannot be unmade; the waiting request has long had its answer when this is over. */
const RECORD_DEADLINE_MS = 10_000;
const RECORD_AGAIN_MS = 250;

export interface CardOffersOptions {
  readonly cards: Pick<CardStore, 'claimOffers' | 'recordOutcomes'>;
  /** Must not reject. */
  readonly send: (card: Card) => Promise<SendOutcome>;
  readonly maxBatch: number;
  /** Told after the commit what waiting requests are to hear. Must neither throw nor wait. */
  readonly onCardOutcomes: (news: readonly AddressedCardOutcome[]) => void;
  /** Told after the commit that a card which may arrive was given up, and is to be revoked. Must neither throw nor wait. */
  readonly onGivenUp: () => void;
  /** What came of a send, and how long it took. */
  readonly onOutcome: (outcome: SendOutcome, seconds: number) => void;
  /** Told of offers that were rung for and not looked at. */
  readonly onShed: (count: number) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Moves cards: from offers to the platform, from its answers to rows. Whoever claims an offer sends it; one that nobody
 * claims in time is taken back by the request that made it, so there is nothing to look for later, and a gateway that dies
 * in between leaves a card that the same request settles. No transaction is open while the platform is waited for, and no
 * job is held.
 */
export class CardOffers {
  private readonly claims: Batcher<Uuid, Card | null>;
  private readonly underWay = new Set<Promise<void>>();
  private readonly sent = new DeliveryGrace();
  private stopped = false;

  constructor(private readonly o: CardOffersOptions) {
    this.claims = new Batcher({
      name: 'cards.claim',
      run: (ids) => this.claimAll(ids),
      keysOf: (id) => [id],
      maxBatch: o.maxBatch,
      maxInFlight: 2,
      maxQueued: MAX_UNDER_WAY,
      deadlineMs: OFFER_LIFE_MS,
    });
  }

  /** Cards that are on their way to the platform. */
  get sending(): number {
    return this.underWay.size;
  }

  /**
   * Claims what of these is on offer, and sends it. Settles once they are claimed, not once they are sent, and never
   * rejects; answers the ids that were no offers to this gateway.
   */
  async take(ids: readonly Uuid[]): Promise<readonly Uuid[]> {
    const room = this.stopped ? 0 : Math.max(0, MAX_UNDER_WAY - this.underWay.size);
    if (ids.length > room) this.o.onShed(ids.length - room);
    const left = await Promise.all(ids.slice(0, room).map(async (id) => ((await this.claim(id)) ? [] : [id])));
    return [...left.flat(), ...ids.slice(room)];
  }

  /** What says that these cards have arrived is committed: that they were sent need not be recorded any more. */
  arrived(ids: readonly Uuid[]): void {
    this.sent.arrived(ids);
  }

  /** Claims no more. */
  stopClaiming(): void {
    this.stopped = true;
  }

  /** Resolves once every card that was claimed is sent, and its outcome recorded. */
  async drain(): Promise<void> {
    await this.claims.drain();
    await Promise.all(this.underWay);
  }

  private async claim(id: Uuid): Promise<boolean> {
    try {
      const card = await this.claims.add(id);
      if (card === null) return false;
      this.begin(card);
      return true;
    } catch (error) {
      this.o.onError(error);
      return false;
    }
  }

  private async claimAll(ids: readonly Uuid[]): Promise<(Card | null)[]> {
    const cards = new Map((await this.o.cards.claimOffers(ids)).map((card) => [card.id, card]));
    return ids.map((id) => cards.get(id) ?? null);
  }

  private begin(card: Card): void {
    const sent = this.send(card).finally(() => this.underWay.delete(sent));
    this.underWay.add(sent);
  }

  /** One send with its record, which a card that arrives at once does without. Never rejects. */
  private async send(card: Card): Promise<void> {
    const startMs = performance.now();
    const outcome = await this.o.send(card);
    const endMs = performance.now();
    this.o.onOutcome(outcome, (endMs - startMs) / 1_000);
    if (outcome.kind === 'sent' && (await this.sent.arrives(card.id))) return;
    await this.record(card.id, outcome, endMs + RECORD_DEADLINE_MS);
  }

  private async record(id: Uuid, outcome: SendOutcome, endsMs: number): Promise<void> {
    for (;;) {
      try {
        const news = await this.o.cards.recordOutcomes([{ id, outcome }]);
        this.o.onCardOutcomes(news);
        if (mayArrive(outcome) && news.some((each) => each.news === 'sms_fallback')) this.o.onGivenUp();
        return;
      } catch (error) {
        this.o.onError(error);
        // Not recorded: it stays on its way for ever, and what the platform tells of it counts all the same.
        if (performance.now() + RECORD_AGAIN_MS > endsMs) return;
        await delay(RECORD_AGAIN_MS);
      }
    }
  }
}

const mayArrive = ({ kind }: SendOutcome): boolean => kind === 'sent' || kind === 'unknown';
