import type { Brand } from '@countersign/accounts/accounts';
import type { NewCard, FinalChannel } from '@countersign/rcs/rules';
import { DatabaseClock } from '@countersign/postgres';
import type { Session } from '@countersign/session/rules';
import { Inject, Injectable } from '@nestjs/common';
import type { PausedWait } from '../http/pause-deadline.decorator.js';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import { CardDecisionService } from './card-decision.service.js';
import { CardOutcomes } from './card-outcomes.js';
import { MatchNumberService } from './match-number.service.js';

/** Shortest life of a card. The platform requires 10 s; it may deliver a card with a shorter life after its end. */
const SHORTEST_CARD_MS = 10_000;
/** Concurrently waiting creates at most. Further creates send no card. */
const MAX_WAITING = 10_000;
/** The result of a card for its create. */
export interface DecidedCard {
  readonly channel: FinalChannel;
  /** The number that the browser shows; null without number matching, or if no card can arrive. */
  readonly matchCode: string | null;
}

/**
 * Sends the card of a new session through the gateways, and delays the answer of its create until it is known whether the
 * card arrived. Outcome messages of gateways over the bus are hints that save time: the channel is read from the card's
 * row, and at each deadline the row decides under a lock, so that gateway and create agree on one channel. Errors of cards
 * do not fail a create, except an unavailable database when the row must decide, because the answer could be wrong.
 */
@Injectable()
export class RcsOfferService {
  constructor(
    @Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    private readonly outcomes: CardOutcomes,
    private readonly decisions: CardDecisionService,
    private readonly matchNumbers: MatchNumberService,
    @Inject(ControlPlaneMetrics) private readonly metrics: Pick<ControlPlaneMetrics, 'countCard' | 'watch'>,
  ) {
    metrics.watch('creates_waiting', 'Creates that wait for the outcome of their cards.', () => outcomes.waiting);
  }

  /**
   * Offers the card of a session and decides its channel. If an earlier attempt of the same request decided the channel,
   * that decision stays.
   */
  async sendCard(session: Session, brand: Brand, pausedWait: PausedWait): Promise<DecidedCard> {
    const card = this.cardOf(session, brand);
    if (card === null) return { channel: session.channel, matchCode: null };
    const startedMs = performance.now();
    const wait = this.outcomes.open(card.id);
    const livesMs = session.expiresAt.getTime() - session.createdAt.getTime();
    try {
      const decision = await this.decisions.decide(card, wait, { pausedWait, livesMs });
      this.metrics.countCard(decision.end, performance.now() - startedMs);
      const matchCode = await this.matchNumbers.numberFor(card, decision);
      return { channel: decision.end === 'rcs' ? 'rcs' : session.channel, matchCode };
    } finally {
      wait.close();
    }
  }

  /** The card to offer; null if no card is to be sent. */
  private cardOf({ id, accountId, phone, keyVersion, expiresAt }: Session, brand: Brand): NewCard | null {
    const agentId = brand.rcsAgentId;
    if (agentId === null || this.outcomes.waiting >= MAX_WAITING) return null;
    if (expiresAt.getTime() - this.clock.nowMs() < SHORTEST_CARD_MS) return null;
    const { id: brandId, name: brandName, logoUrl, rcsNumberMatching: numberMatching } = brand;
    const { originProcess } = this.outcomes;
    const recipient = { id, accountId, brandId, originProcess, agentId, phone };
    return { ...recipient, brandName, logoUrl, numberMatching, keyVersion, expiresAt };
  }
}
