import type { DueEvent, EventType } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { CardOfferStore } from '@countersign/rcs/offers';
import { STATUS_BY_TERMINAL_EVENT } from '@countersign/session/rules';
import { Inject, Injectable } from '@nestjs/common';
import type { AfterCommit, EventSubscriber } from '../events/event.subscriber.js';
import { CardJobNotifier } from '../notifiers/card-job.notifier.js';

/**
 * When a session is approved, denied or cancelled: makes the revoke of a card that may still arrive due, and notifies the
 * gateways, which send it. A card expires with its session, so an expired session needs none.
 */
@Injectable()
export class CardRevocationSubscriber implements EventSubscriber {
  constructor(
    @Inject(CardOfferStore) private readonly cards: Pick<CardOfferStore, 'requestRevokesOfEndedSessions'>,
    @Inject(CardJobNotifier) private readonly notifier: Pick<CardJobNotifier, 'notify'>,
  ) {}

  async handle(tx: Executor, events: readonly DueEvent[]): Promise<AfterCommit> {
    const ended = events.flatMap(({ type, sessionId }) =>
      endsBeforeCard(type) && sessionId !== null ? [sessionId] : [],
    );
    const due = await this.cards.requestRevokesOfEndedSessions(tx, ended);
    return () => this.notifyGateways(due);
  }

  private notifyGateways(cardIds: readonly Uuid[]): void {
    if (cardIds.length > 0) this.notifier.notify(cardIds);
  }
}

/** Whether the event ends its session before the card expires. */
const endsBeforeCard = (type: EventType): boolean =>
  STATUS_BY_TERMINAL_EVENT.has(type) && STATUS_BY_TERMINAL_EVENT.get(type) !== 'expired';
