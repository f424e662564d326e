import { JobNotifier, PubSub } from '@countersign/bus';
import { Injectable } from '@nestjs/common';
import { RcsMetrics } from '../rcs.metrics.js';
import type { Decided } from './card-decisions.js';
import { publishCardOutcomes } from './card-outcome-messages.js';
import { DeliveryGrace } from './delivery-grace.js';
import { RcsCommandProcessor } from './rcs-command.processor.js';

/** Reactions to processed events, after the commit. They neither throw nor wait. */
@Injectable()
export class DecisionReactions {
  constructor(
    private readonly bus: PubSub,
    private readonly grace: DeliveryGrace,
    private readonly notifier: JobNotifier,
    private readonly commands: RcsCommandProcessor,
    private readonly metrics: RcsMetrics,
  ) {}

  /** Publishes the outcomes of cards; the sends of delivered cards need no record. */
  onArrivals({ cardOutcomes, arrivals }: Pick<Decided, 'cardOutcomes' | 'arrivals'>): void {
    publishCardOutcomes(this.bus, cardOutcomes);
    this.grace.markDelivered(arrivals.map(({ cardId }) => cardId));
    for (const { agentId, afterMs } of arrivals) this.metrics.countArrival(agentId, afterMs);
  }

  /** The same, and reports ended sessions and runs the commands of taps. */
  onDecided(decided: Decided): void {
    const { eventIds, taps } = decided;
    this.onArrivals(decided);
    if (eventIds.length > 0) this.notifier.notify(eventIds);
    for (const { verdict, ended } of taps) this.metrics.countTap(verdict, ended);
    if (taps.length > 0) this.commands.trigger();
  }
}
