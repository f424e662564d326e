import { Database } from '@countersign/postgres';
import { Timers, PollLoop } from '@countersign/schedule';
import { Inject, Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { EventJobNotifier } from '../notifiers/event-job.notifier.js';
import { FailureLog } from '../operations/failure-log.js';
import { TestAnswers } from './test-answers.js';
import { TestCodes } from './test-codes.js';
import { ACTS_AFTER_SECONDS, type StepResult, type TestStep } from './test-step.js';

/** Finds work of processes that have stopped. Work of this process is triggered by timers. */
const POLL_INTERVAL_MS = 1_000;

const NO_RESULT: StepResult = { eventIds: [], count: 0, full: false };

/**
 * Simulates phones and carriers for test keys (contract, Test keys), so that nothing is sent to a real network. All state
 * is in the tables: any number of processes may run it, and another process continues the work of a killed one.
 */
@Injectable()
export class TestPhones {
  private readonly pollLoop: PollLoop;
  private readonly timers = new Timers(() => this.pollLoop.trigger());

  private readonly onError: (error: unknown) => void;

  constructor(
    @Inject(Database) private readonly database: Pick<Database, 'transaction'>,
    @Inject(TestAnswers) private readonly answers: Pick<TestAnswers, 'runDueActions'>,
    @Inject(TestCodes) private readonly codes: Pick<TestCodes, 'submitQueued' | 'recordReceipts'>,
    @Inject(EventJobNotifier) private readonly notifier: Pick<EventJobNotifier, 'notify'>,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.onError = failures.about('a step of the test numbers');
    this.pollLoop = new PollLoop({
      everyMs: POLL_INTERVAL_MS,
      work: () => this.runSteps(),
      onError: this.onError,
    });
  }

  /** Call after a test session was created: its phone may act a second later. */
  scheduleAnswers(): void {
    this.scheduleRun();
  }

  /** Call after a code was queued. */
  submitQueuedCodes(): void {
    this.pollLoop.trigger();
  }

  @OnStop('consumers')
  async stop(): Promise<void> {
    this.timers.clear();
    await this.pollLoop.stop();
  }

  private async runSteps(): Promise<boolean> {
    const { answers, codes } = this;
    const acted = await this.runStep(answers.runDueActions);
    const received = await this.runStep(codes.recordReceipts);
    const submitted = await this.runStep(codes.submitQueued);
    if (submitted.count > 0) this.scheduleRun();
    return acted.full || received.full || submitted.full;
  }

  /** A failed step does not stop the others; the next run repeats it. */
  private async runStep(step: TestStep): Promise<StepResult> {
    try {
      const result = await this.database.transaction(step);
      if (result.eventIds.length > 0) this.notifier.notify(result.eventIds);
      return result;
    } catch (error) {
      this.onError(error);
      return NO_RESULT;
    }
  }

  private scheduleRun(): void {
    this.timers.fireIn(ACTS_AFTER_SECONDS * 1000);
  }
}
