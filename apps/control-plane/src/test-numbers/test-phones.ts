import type { Uuid } from '@countersign/ids';
import type { Database } from '@countersign/postgres';
import { Timers, PollLoop } from '@countersign/schedule';
import { ACTS_AFTER_SECONDS, type StepResult, type TestStep } from './test-step.js';

/** Finds work of processes that have stopped. Work of this process is triggered by timers. */
const POLL_INTERVAL_MS = 1_000;

const NO_RESULT: StepResult = { eventIds: [], count: 0, full: false };

export interface TestPhonesOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly answers: { readonly runDueActions: TestStep };
  readonly codes: { readonly submitQueued: TestStep; readonly recordReceipts: TestStep };
  /** Called with the ids of events after their commit. Must not throw. */
  readonly onEvents: (ids: readonly Uuid[]) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Simulates phones and carriers for test keys (contract, Test keys), so that nothing is sent to a real network. All state
 * is in the tables: any number of processes may run it, and another process continues the work of a killed one.
 */
export class TestPhones {
  private readonly pollLoop: PollLoop;
  private readonly timers = new Timers(() => this.pollLoop.trigger());

  constructor(private readonly o: TestPhonesOptions) {
    const { onError } = o;
    this.pollLoop = new PollLoop({ everyMs: POLL_INTERVAL_MS, work: () => this.runSteps(), onError });
  }

  /** Call after a test session was created: its phone may act a second later. */
  scheduleAnswers(): void {
    this.scheduleRun();
  }

  /** Call after a code was queued. */
  submitQueuedCodes(): void {
    this.pollLoop.trigger();
  }

  async stop(): Promise<void> {
    this.timers.clear();
    await this.pollLoop.stop();
  }

  private async runSteps(): Promise<boolean> {
    const { answers, codes } = this.o;
    const acted = await this.runStep(answers.runDueActions);
    const received = await this.runStep(codes.recordReceipts);
    const submitted = await this.runStep(codes.submitQueued);
    if (submitted.count > 0) this.scheduleRun();
    return acted.full || received.full || submitted.full;
  }

  /** A failed step does not stop the others; the next run repeats it. */
  private async runStep(step: TestStep): Promise<StepResult> {
    try {
      const result = await this.o.database.transaction(step);
      if (result.eventIds.length > 0) this.o.onEvents(result.eventIds);
      return result;
    } catch (error) {
      this.o.onError(error);
      return NO_RESULT;
    }
  }

  private scheduleRun(): void {
    this.timers.fireIn(ACTS_AFTER_SECONDS * 1000);
  }
}
