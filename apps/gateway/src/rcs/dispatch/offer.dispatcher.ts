import { Inject, Injectable } from '@nestjs/common';
import { CardSendStore } from '@countersign/rcs/offers';
import { OFFER_LIFE_MS, type Card } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { Batcher } from '@countersign/postgres';
import { GatewaySettings } from '@countersign/settings';
import { OnStop } from '../../composition/phases.js';
import { RcsMetrics } from '../rcs.metrics.js';
import { CardSender } from './card.sender.js';
import { OfferErrorLog } from './offer-error.log.js';

/** Sends in flight; offers beyond this are left to other gateways or fall back to SMS. */
const MAX_IN_FLIGHT = 2_000;

/**
 * Claims offers, sends them to the platform and records the outcomes. The create that made an offer withdraws it when no
 * gateway claims it in time, and settles a card whose gateway failed; so unclaimed offers need no polling. During a send
 * no transaction is open and no job is held.
 */
@Injectable()
export class OfferDispatcher {
  private readonly claims: Batcher<Uuid, Card | null>;
  private readonly inFlight = new Set<Promise<void>>();
  private stopped = false;

  constructor(
    @Inject(CardSendStore) private readonly sends: Pick<CardSendStore, 'claimOffers'>,
    private readonly sender: CardSender,
    private readonly metrics: RcsMetrics,
    private readonly errors: OfferErrorLog,
    @Inject(GatewaySettings) { batchMaxCommands: maxBatch }: Pick<GatewaySettings, 'batchMaxCommands'>,
  ) {
    metrics.registerSendsInFlight(() => this.sending);
    this.claims = new Batcher({
      name: 'cards.claim',
      run: (ids) => this.claimBatch(ids),
      keysOf: (id) => [id],
      limits: { maxBatch, maxInFlight: 2, maxQueued: MAX_IN_FLIGHT, deadlineMs: OFFER_LIFE_MS },
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
    if (ids.length > capacity) this.metrics.countShedOffers(ids.length - capacity);
    const unclaimed = await Promise.all(
      ids.slice(0, capacity).map(async (id) => ((await this.claimOffer(id)) ? [] : [id])),
    );
    return [...unclaimed.flat(), ...ids.slice(capacity)];
  }

  /** Claims no further offers. */
  @OnStop('stop sending')
  stopClaiming(): void {
    this.stopped = true;
  }

  /** Resolves once every claimed card is sent and its outcome recorded. */
  @OnStop('unbind')
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
      this.errors.report(error);
      return false;
    }
  }

  private async claimBatch(ids: readonly Uuid[]): Promise<(Card | null)[]> {
    const cards = new Map((await this.sends.claimOffers(ids)).map((card) => [card.id, card]));
    return ids.map((id) => cards.get(id) ?? null);
  }

  private startSend(card: Card): void {
    const sent = this.sender.sendCard(card).finally(() => this.inFlight.delete(sent));
    this.inFlight.add(sent);
  }
}
