import type { Uuid } from '@countersign/ids';
import { DatabaseUnavailable } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import type { CardDecisions, Decided } from './card-decisions.js';

/** How often events are looked for whose gateway stopped, or failed, before it acted on them. */
const RELAY_INTERVAL_MS = 5_000;
/** Events found by one look. */
const MAX_FOUND = 1_000;
/** Ids that wait to be acted on at most; the relay finds the others. */
const MAX_WAITING = 10_000;

export interface RcsEventProcessorOptions {
  readonly decisions: Pick<CardDecisions, 'decide' | 'find'>;
  readonly maxBatch: number;
  /** Told after the commit. Must neither throw nor wait. */
  readonly onDecided: (decided: Decided) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Acts on events once they are stored: at once on those that came in here, and every few seconds on what others left.
 * Events of one moment share a transaction; one that cannot be applied is left behind alone.
 */
export class RcsEventProcessor {
  private readonly waiting = new Set<Uuid>();
  private periodic: PollLoop | undefined;
  private nextRelayMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly o: RcsEventProcessorOptions) {}

  start(): void {
    const { onError } = this.o;
    this.periodic = new PollLoop({ everyMs: RELAY_INTERVAL_MS, work: () => this.look(), onError });
    this.periodic.trigger();
  }

  /** These were just stored. Never throws, never waits. */
  wake(ids: readonly Uuid[]): void {
    for (const id of ids) if (this.waiting.size < MAX_WAITING) this.waiting.add(id);
    this.periodic?.trigger();
  }

  /** Acts on what is under way, and on no more: what waits is stored, and another gateway's relay finds it. */
  async stop(): Promise<void> {
    await this.periodic?.stop();
    this.periodic = undefined;
  }

  /** True when more is waiting. */
  private async look(): Promise<boolean> {
    const ids = [...this.waiting].slice(0, this.o.maxBatch);
    if (ids.length > 0) {
      for (const id of ids) this.waiting.delete(id);
      await this.decideAll(ids);
      return true;
    }
    return performance.now() >= this.nextRelayMs && this.relay();
  }

  /** Finds only: one that cannot be applied must not hold back the others. */
  private async relay(): Promise<boolean> {
    this.nextRelayMs = performance.now() + RELAY_INTERVAL_MS / 2;
    const ids = await this.o.decisions.find(MAX_FOUND);
    for (const id of ids) this.waiting.add(id);
    return ids.length > 0;
  }

  /** In one transaction, or, when that fails for a reason of one of them, in two of half the size. */
  private async decideAll(ids: readonly Uuid[]): Promise<void> {
    try {
      this.o.onDecided(await this.o.decisions.decide(ids));
    } catch (error) {
      if (ids.length === 1 || error instanceof DatabaseUnavailable) {
        this.o.onError(error);
        return;
      }
      const middle = ids.length >> 1;
      await this.decideAll(ids.slice(0, middle));
      await this.decideAll(ids.slice(middle));
    }
  }
}
