import type { PubSub } from '@countersign/bus';
import type { AddressedCardOutcome } from '@countersign/rcs/offers';
import {
  CardAnswers,
  newCardEventId,
  type Card,
  type CardEventKind,
  type Choice,
  type SendOutcome,
} from '@countersign/rcs/rules';
import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { Database, DatabaseClock } from '@countersign/postgres';
import type { SessionStore } from '@countersign/session';
import { CardDecisions } from '../../apps/gateway/src/rcs/dispatch/card-decisions.js';
import { publishCardOutcomes } from '../../apps/gateway/src/rcs/dispatch/card-outcome-messages.js';
import { openCardStores, type CardStores } from './card-stores.js';
import { until } from './until.js';

/** Every create is answered within this time. */
const ANSWERED_MS = 20_000;

export interface PlayedGatewayParts {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly keys: ServerKeys;
  readonly sessions: SessionStore;
  /** Null: outcomes are not published, as without a bus. */
  readonly bus: Pick<PubSub, 'publish'> | null;
  /** Called with the ids of session events, after their commit. */
  readonly onEvents?: (eventIds: readonly Uuid[]) => void;
}

/**
 * A gateway and its platform, driven step by step by the test. Cards and sessions change by the real code; no request is
 * sent to a platform.
 */
export class PlayedGateway {
  readonly cards: CardStores;
  readonly answers: CardAnswers;
  private readonly decisions: CardDecisions;
  private eventCount = 0;

  constructor(private readonly parts: PlayedGatewayParts) {
    this.cards = openCardStores(parts);
    this.answers = new CardAnswers(parts.keys);
    this.decisions = new CardDecisions(parts.database, this.cards.events, this.cards.arrivals, parts.sessions);
  }

  /** Claims the next card that is offered to this phone; null when its create is answered first. */
  async claimOffered(phone: string, answer: Promise<unknown>): Promise<Card | null> {
    let answered = false;
    const done = (): void => void (answered = true);
    answer.then(done, done);
    let card: Card | undefined;
    await until(`a card is offered to ${phone}`, ANSWERED_MS, async () => {
      const offered = await this.parts.database.query<{ id: Uuid }>(
        `SELECT id FROM cards WHERE phone = $1 AND state = 'offered' AND settled_at IS NULL`,
        [phone],
      );
      [card] = await this.cards.sends.claimOffers(offered.map(({ id }) => id));
      return answered || card !== undefined;
    });
    return card ?? null;
  }

  /** Claims the card with this id. */
  async claimCard(id: Uuid): Promise<Card> {
    const [card] = await this.cards.sends.claimOffers([id]);
    if (card === undefined) throw new Error('the card could not be claimed');
    return card;
  }

  /** Records the platform's answer to the send. */
  async sent(card: Card, outcome: SendOutcome = { kind: 'sent' }): Promise<void> {
    this.publish(await this.cards.sends.recordSendOutcomes([{ id: card.id, outcome }]));
  }

  /** Stores and processes an event of this card. */
  async receiveEvent(card: Card, kind: CardEventKind, choice: Choice | null = null): Promise<void> {
    const { clock, onEvents } = this.parts;
    const occurredAt = new Date(clock.nowMs());
    const id = newCardEventId(occurredAt.getTime(), `${card.id} ${kind} ${++this.eventCount}`, clock);
    const { agentId, phone, messageId } = card;
    const about = kind === 'tap' ? { messageId: null, cardId: card.id } : { messageId, cardId: null };
    await this.cards.events.storeEvents([{ id, kind, agentId, phone, ...about, choice, occurredAt }]);
    const { cardOutcomes, eventIds } = await this.decisions.processEvents([id]);
    this.publish(cardOutcomes);
    if (eventIds.length > 0) onEvents?.(eventIds);
  }

  private publish(outcomes: readonly AddressedCardOutcome[]): void {
    if (this.parts.bus !== null) publishCardOutcomes(this.parts.bus, outcomes);
  }
}
