import { Inject, Injectable } from '@nestjs/common';
import type { Uuid } from '@countersign/ids';
import { DatabaseUnavailable, isCausedByRows } from '@countersign/postgres';
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

type Ids = readonly Uuid[];

/**
 * Processes stored events: those of this gateway at once, and every few seconds, behind these, those that other gateways left
 * unprocessed. Pending events share a transaction. An event that fails alone for the values of its rows is marked as
 * processed, so that no poll finds it again.
 */
@Injectable()
export class RcsEventProcessor {
  private readonly stored = new Set<Uuid>();
  private readonly found = new Set<Uuid>();
  /** Parts of batches of found events that failed; the next is the last. */
  private readonly parts: Ids[] = [];
  private pollLoop: PollLoop | undefined;
  private nextPollMs = Number.NEGATIVE_INFINITY;

  private readonly report = throttled((err) => this.logger.error({ err }, 'RCS event could not be processed'));

  constructor(
    @Inject(CardDecisions)
    private readonly decisions: Pick<CardDecisions, 'processEvents' | 'refuseEvent' | 'findUnprocessed'>,
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
    for (const id of ids) if (this.stored.size < MAX_PENDING) this.stored.add(id);
    this.pollLoop?.trigger();
  }

  /** Finishes the events in progress. Pending events are stored, so another gateway's poll finds them. */
  async stop(): Promise<void> {
    await this.pollLoop?.stop();
    this.pollLoop = undefined;
  }

  /** One transaction at least. True when more events may be pending. */
  private async processPending(): Promise<boolean> {
    const stored = this.takeFrom(this.stored);
    if (stored.length > 0) {
      for (let parts: Ids[] = [stored], ids = parts.pop(); ids !== undefined; ids = parts.pop())
        parts.push(...(await this.processBatch(ids)));
      return true;
    }
    const found = this.parts.pop() ?? this.takeFrom(this.found);
    if (found.length > 0) {
      this.parts.push(...(await this.processBatch(found)));
      return true;
    }
    return performance.now() >= this.nextPollMs && this.pollUnprocessed();
  }

  private takeFrom(pending: Set<Uuid>): Ids {
    const ids = [...pending].slice(0, this.settings.batchMaxCommands);
    for (const id of ids) pending.delete(id);
    return ids;
  }

  /** Only finds events: an event that cannot be applied must not hold back the others. */
  private async pollUnprocessed(): Promise<boolean> {
    this.nextPollMs = performance.now() + POLL_INTERVAL_MS / 2;
    const ids = await this.decisions.findUnprocessed(MAX_FOUND);
    for (const id of ids) this.found.add(id);
    return ids.length > 0;
  }

  /** One transaction. When one of several events makes it fail, resolves with the two halves, the first one last. */
  private async processBatch(ids: Ids): Promise<readonly Ids[]> {
    try {
      this.reactions.onDecided(await this.decisions.processEvents(ids));
      return [];
    } catch (error) {
      const [id] = ids;
      if (ids.length > 1 && !(error instanceof DatabaseUnavailable)) {
        const middle = ids.length >> 1;
        return [ids.slice(middle), ids.slice(0, middle)];
      }
      this.report(error);
      if (id !== undefined && ids.length === 1 && isCausedByRows(error)) await this.refuse(id);
      return [];
    }
  }

  private async refuse(id: Uuid): Promise<void> {
    await this.decisions.refuseEvent(id).catch(this.report);
  }
}
