import type { PubSub } from '@countersign/bus';
import { CardStore } from '@countersign/rcs';
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
import { CardDecisions } from '../../apps/gateway/src/rcs/card-decisions.js';
import { publishCardOutcomes } from '../../apps/gateway/src/rcs/card-outcome-messages.js';
import { until } from './until.js';

/** Every create is answered within this time. */
const ANSWERED_MS = 20_000;

export interface PlayedGatewayParts {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly keys: ServerKeys;
  readonly sessions: SessionStore;
  /** Null: nobody hears of what it does, as on a bus that is away. */
  readonly bus: Pick<PubSub, 'publish'> | null;
  /** Told of events of sessions, after their commit. */
  readonly tell?: (eventIds: readonly Uuid[]) => void;
}

/**
 * A gateway and the platform behind it, played step by step: what it does to cards and sessions is the real thing, only
 * nothing is sent anywhere.
 */
export class PlayedGateway {
  readonly cards: CardStore;
  readonly answers: CardAnswers;
  private readonly decisions: CardDecisions;
  private events = 0;

  constructor(private readonly parts: PlayedGatewayParts) {
    this.cards = new CardStore(parts);
    this.answers = new CardAnswers(parts.keys);
    this.decisions = new CardDecisions({ ...parts, cards: this.cards });
  }

  /** Takes the next card that is offered to this phone; null when its create was answered first. */
  async take(phone: string, answer: Promise<unknown>): Promise<Card | null> {
    let answered = false;
    const done = (): void => void (answered = true);
    answer.then(done, done);
    let card: Card | undefined;
    await until(`a card is offered to ${phone}`, ANSWERED_MS, async () => {
      const offered = await this.parts.database.query<{ id: Uuid }>(
        `SELECT id FROM cards WHERE phone = $1 AND state = 'offered' AND settled_at IS NULL`,
        [phone],
      );
      [card] = await this.cards.claimOffers(offered.map(({ id }) => id));
      return answered || card !== undefined;
    });
    return card ?? null;
  }

  /** Takes a card that was rung for. */
  async takeNamed(id: Uuid): Promise<Card> {
    const [card] = await this.cards.claimOffers([id]);
    if (card === undefined) throw new Error('the card was not to be had');
    return card;
  }

  /** The platform has answered. */
  async sent(card: Card, outcome: SendOutcome = { kind: 'sent' }): Promise<void> {
    this.publish(await this.cards.recordOutcomes([{ id: card.id, outcome }]));
  }

  /** The platform tells something of this card, once. */
  async told(card: Card, kind: CardEventKind, choice: Choice | null = null): Promise<void> {
    const { clock, tell } = this.parts;
    const occurredAt = new Date(clock.nowMs());
    const id = newCardEventId(occurredAt.getTime(), `${card.id} ${kind} ${++this.events}`, clock);
    const { agentId, phone, messageId } = card;
    const about = kind === 'tap' ? { messageId: null, cardId: card.id } : { messageId, cardId: null };
    await this.cards.storeEvents([{ id, kind, agentId, phone, ...about, choice, occurredAt }]);
    const { news, eventIds } = await this.decisions.decide([id]);
    this.publish(news);
    if (eventIds.length > 0) tell?.(eventIds);
  }

  private publish(news: readonly AddressedCardOutcome[]): void {
    if (this.parts.bus !== null) publishCardOutcomes(this.parts.bus, news);
  }
}
