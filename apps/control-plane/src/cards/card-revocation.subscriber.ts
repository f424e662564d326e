import type { DueEvent, EventType } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { CardOfferStore } from '@countersign/rcs/offers';
import { STATUS_BY_TERMINAL_EVENT } from '@countersign/session/rules';
import { Inject, Injectable } from '@nestjs/common';
import type { AfterCommit, EventSubscriber } from '../events/event.subscriber.js';
import { CardJobNotifier } from '../notifiers/card-job.notifier.js';

/** Revokes the cards of ended sessions, and notifies the gateways of the cards that they have to revoke. */
@Injectable()
export class CardRevocationSubscriber implements EventSubscriber {
  constructor(
    @Inject(CardOfferStore) private readonly cards: Pick<CardOfferStore, 'revokeCardsOfEndedSessions'>,
    @Inject(CardJobNotifier) private readonly notifier: Pick<CardJobNotifier, 'notify'>,
  ) {}

  async handle(tx: Executor, events: readonly DueEvent[]): Promise<AfterCommit> {
    const ended = events.flatMap(({ type, sessionId }) => (leavesCard(type) && sessionId !== null ? [sessionId] : []));
    const revoked = await this.cards.revokeCardsOfEndedSessions(tx, ended);
    return () => this.onRevoked(revoked);
  }

  private onRevoked(cardIds: readonly Uuid[]): void {
    if (cardIds.length > 0) this.notifier.notify(cardIds);
  }
}

/** Whether the event ends its session before its time: a card ends by itself with the time of its session. */
const leavesCard = (type: EventType): boolean =>
  STATUS_BY_TERMINAL_EVENT.has(type) && STATUS_BY_TERMINAL_EVENT.get(type) !== 'expired';
