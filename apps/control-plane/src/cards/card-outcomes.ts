import { PubSub, TOPICS, type Subscription } from '@countersign/bus';
import type { Uuid } from '@countersign/ids';
import { Database, DatabaseClock } from '@countersign/postgres';
import { findCards } from '@countersign/rcs/offers';
import { Inject, Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';
import { CardOutcomeReader } from './card-outcome-reader.js';
import { CardOutcomeWaits, parseCardOutcomes, type CardOutcomeWait } from './card-outcome-waits.js';

/** Receives the outcomes of cards that gateways report to this process, for the creates that wait for them. */
@Injectable()
export class CardOutcomes {
  /** Id of this process, to which gateways send outcomes. */
  readonly originProcess: Uuid;
  private readonly waits = new CardOutcomeWaits();
  private readonly subscription: Subscription;

  constructor(
    @Inject(PubSub) bus: Pick<PubSub, 'subscribe'>,
    @Inject(Database) database: Pick<Database, 'query'>,
    @Inject(DatabaseClock) clock: Pick<DatabaseClock, 'newId'>,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.originProcess = clock.newId();
    const find = (ids: readonly Uuid[]): ReturnType<typeof findCards> => findCards(database, ids);
    const reader = new CardOutcomeReader({ waits: this.waits, find, onError: failures.about('sending a card') });
    this.subscription = bus.subscribe(TOPICS.cardOutcomes(this.originProcess), (message) =>
      reader.receive(parseCardOutcomes(message.json())),
    );
  }

  /** The number of waiting creates. */
  get waiting(): number {
    return this.waits.size;
  }

  open(cardId: Uuid): CardOutcomeWait {
    return this.waits.open(cardId);
  }

  /** Ends all waits, so that waiting creates are decided at once. */
  @OnStop('waits')
  stop(): void {
    this.waits.endAll();
    this.subscription.close();
  }
}
