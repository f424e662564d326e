import { Inject, Injectable } from '@nestjs/common';
import { isArrivalEvent, CardEventStore } from '@countersign/rcs/events';
import type { NewCardEvent } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { Batcher, DatabaseUnavailable } from '@countersign/postgres';
import { GatewaySettings } from '@countersign/settings';
import type { Logger } from '@countersign/telemetry';
import { throttled } from '@countersign/resilience';
import { LOGGER } from '../../injection/logger.token.js';
import { CardDecisions } from '../dispatch/card-decisions.js';
import { DecisionReactions } from '../dispatch/decision.reactions.js';

const MAX_BATCHES_IN_FLIGHT = 2;
const MAX_QUEUED_EVENTS = 4_096;

/**
 * Stores events of the platform in batches of one transaction each. Arrival events, for which creates wait, are processed in
 * that transaction. When processing fails the events are only stored, to be processed later, because the platform repeats
 * an event only until it is stored.
 */
@Injectable()
export class CardEventIntake {
  private readonly batches: Batcher<NewCardEvent, boolean>;
  private readonly report = throttled((err) =>
    this.logger.error(
      { err },
      'RCS event intake: arrivals could not be applied while they were stored; they are processed later',
    ),
  );

  constructor(
    @Inject(CardEventStore) private readonly events: Pick<CardEventStore, 'storeEvents'>,
    @Inject(CardDecisions) private readonly decisions: Pick<CardDecisions, 'storeEvents'>,
    @Inject(DecisionReactions) private readonly reactions: Pick<DecisionReactions, 'onArrivals'>,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'error'>,
    @Inject(GatewaySettings) { batchMaxCommands: maxBatch }: Pick<GatewaySettings, 'batchMaxCommands'>,
  ) {
    this.batches = new Batcher({
      name: 'card.event.intake',
      run: (events) => this.storeBatch(events),
      keysOf: ({ id }) => [id],
      limits: { maxBatch, maxInFlight: MAX_BATCHES_IN_FLIGHT, maxQueued: MAX_QUEUED_EVENTS },
    });
  }

  /** Resolves once the event is stored. True when it remains to be processed. */
  storeEvent(event: NewCardEvent): Promise<boolean> {
    return this.batches.add(event);
  }

  private async storeBatch(events: readonly NewCardEvent[]): Promise<boolean[]> {
    const unprocessed = new Set(await this.storeAndProcess(events));
    return events.map(({ id }) => unprocessed.has(id));
  }

  private async storeAndProcess(events: readonly NewCardEvent[]): Promise<readonly Uuid[]> {
    if (!events.some(isArrivalEvent)) return this.events.storeEvents(events);
    try {
      const { unprocessed, decided } = await this.decisions.storeEvents(events);
      this.reactions.onArrivals(decided);
      return unprocessed;
    } catch (error) {
      // Without a database connection nothing can be stored; after a refused statement a plain insert may succeed.
      if (error instanceof DatabaseUnavailable && !error.connectionLives) throw error;
      this.report(error);
      return this.events.storeEvents(events);
    }
  }
}
