import { Inject, Injectable } from '@nestjs/common';
import type { Uuid } from '@countersign/ids';
import { DatabaseUnavailable } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { GatewaySettings } from '@countersign/settings';
import type { Logger } from '@countersign/telemetry';
import { throttled } from '@countersign/resilience';
import { LOGGER } from '../../injection/logger.token.js';
import { OnStart } from '../../composition/phases.js';
import { CardDecisions } from './card-decisions.js';
import { DecisionReactions } from './decision.reactions.js';

/** Poll interval for events whose gateway stopped or failed before it processed them. */
const POLL_INTERVAL_MS = 5_000;
/** Events found by one poll. */
const MAX_FOUND = 1_000;
/** Pending ids; the poll finds further events. */
const MAX_PENDING = 10_000;

/**
 * Processes stored events: those of this gateway at once, and every few seconds those that other gateways left unprocessed.
 * Pending events share a transaction; an event that cannot be applied stays unprocessed without affecting the others.
 */
@Injectable()
export class RcsEventProcessor {
  private readonly pending = new Set<Uuid>();
  private pollLoop: PollLoop | undefined;
  private nextPollMs = Number.NEGATIVE_INFINITY;

  private readonly report = throttled((err) => this.logger.error({ err }, 'RCS event could not be processed'));

  constructor(
    @Inject(CardDecisions) private readonly decisions: Pick<CardDecisions, 'processEvents' | 'findUnprocessed'>,
    @Inject(DecisionReactions) private readonly reactions: Pick<DecisionReactions, 'onDecided'>,
    @Inject(GatewaySettings) private readonly settings: Pick<GatewaySettings, 'batchMaxCommands'>,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'error'>,
  ) {}

  @OnStart('start sending')
  start(): void {
    const [work, onError] = [() => this.processPending(), this.report];
    this.pollLoop = new PollLoop({ everyMs: POLL_INTERVAL_MS, work, onError });
    this.pollLoop.trigger();
  }

  /** Queues events that were just stored. Never throws, never waits. */
  enqueue(ids: readonly Uuid[]): void {
    for (const id of ids) if (this.pending.size < MAX_PENDING) this.pending.add(id);
    this.pollLoop?.trigger();
  }

  /** Finishes the events in progress. Pending events are stored, so another gateway's poll finds them. */
  async stop(): Promise<void> {
    await this.pollLoop?.stop();
    this.pollLoop = undefined;
  }

  /** True when more events may be pending. */
  private async processPending(): Promise<boolean> {
    const ids = [...this.pending].slice(0, this.settings.batchMaxCommands);
    if (ids.length > 0) {
      for (const id of ids) this.pending.delete(id);
      await this.processBatch(ids);
      return true;
    }
    return performance.now() >= this.nextPollMs && this.pollUnprocessed();
  }

  /** Only finds events: an event that cannot be applied must not hold back the others. */
  private async pollUnprocessed(): Promise<boolean> {
    this.nextPollMs = performance.now() + POLL_INTERVAL_MS / 2;
    const ids = await this.decisions.findUnprocessed(MAX_FOUND);
    for (const id of ids) this.pending.add(id);
    return ids.length > 0;
  }

  /** One transaction; when one of the events makes it fail, two transactions of half the size. */
  private async processBatch(ids: readonly Uuid[]): Promise<void> {
    try {
      this.reactions.onDecided(await this.decisions.processEvents(ids));
    } catch (error) {
      if (ids.length === 1 || error instanceof DatabaseUnavailable) {
        this.report(error);
        return;
      }
      const middle = ids.length >> 1;
      await this.processBatch(ids.slice(0, middle));
      await this.processBatch(ids.slice(middle));
    }
  }
}
