import type { Uuid } from '@countersign/ids';
import type { Database } from '@countersign/postgres';
import { Timers, PollLoop } from '@countersign/schedule';
import { ACTS_AFTER_SECONDS, type StepResult, type TestStep } from './test-step.js';

/** For what a process that ended had begun: what this one begins, it looks after in time. */
const LOOK_INTERVAL_MS = 1_000;

const NOTHING: StepResult = { eventIds: [], count: 0, full: false };

export interface TestNumbersOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly answers: { readonly act: TestStep };
  readonly codes: { readonly submit: TestStep; readonly settle: TestStep };
  /** Told of events once they are committed. Must not throw. */
  readonly onEvents: (ids: readonly Uuid[]) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Plays phones and carriers for what test keys make (contract, Test keys), so that nothing of it leaves the building.
 * What is due is read from the rows alone: any number of processes may play, and one that was killed leaves nothing
 * behind that another does not find.
 */
export class TestNumbers {
  private readonly periodic: PollLoop;
  private readonly alarms = new Timers(() => this.periodic.trigger());

  constructor(private readonly o: TestNumbersOptions) {
    const { onError } = o;
    this.periodic = new PollLoop({ everyMs: LOOK_INTERVAL_MS, work: () => this.look(), onError });
  }

  /** A session was just made whose phone may act in its time. */
  expect(): void {
    this.lookLater();
  }

  /** A code was just queued: it is taken at once. */
  takeCode(): void {
    this.periodic.trigger();
  }

  async stop(): Promise<void> {
    this.alarms.clear();
    await this.periodic.stop();
  }

  private async look(): Promise<boolean> {
    const { answers, codes } = this.o;
    const acted = await this.run(answers.act);
    const settled = await this.run(codes.settle);
    const submitted = await this.run(codes.submit);
    if (submitted.count > 0) this.lookLater();
    return acted.full || settled.full || submitted.full;
  }

  /** A step that fails does not keep the others from theirs; it comes again with the next look. */
  private async run(step: TestStep): Promise<StepResult> {
    try {
      const result = await this.o.database.transaction(step);
      if (result.eventIds.length > 0) this.o.onEvents(result.eventIds);
      return result;
    } catch (error) {
      this.o.onError(error);
      return NOTHING;
    }
  }

  private lookLater(): void {
    this.alarms.fireIn(ACTS_AFTER_SECONDS * 1000);
  }
}
