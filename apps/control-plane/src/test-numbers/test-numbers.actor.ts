import { Periodic, type Database, type Executor, type Uuid } from '@countersign/postgres';
import { ACTS_AFTER_SECONDS, type TestAnswers } from './test-answers.js';

/** For what a process that ended had begun: what this one begins, it looks after in time. */
const LOOK_INTERVAL_MS = 1_000;
/** Looks that fall due within this time are one. */
const SLOT_MS = 100;

export interface TestNumbersOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly answers: Pick<TestAnswers, 'act'>;
  /** Told of events once they are committed. Must not throw. */
  readonly onEvents: (ids: readonly Uuid[]) => void;
  readonly onError: (error: unknown) => void;
}

/** One step of the play: what it wrote, and whether more is waiting. */
type Step = (tx: Executor) => Promise<{ readonly eventIds: readonly Uuid[]; readonly full: boolean }>;

/**
 * Plays phones and carriers for what test keys make (contract, Test keys), so that nothing of it leaves the building.
 * What is due is read from the rows alone: any number of processes may play, and one that was killed leaves nothing
 * behind that another does not find.
 */
export class TestNumbers {
  private readonly periodic: Periodic;
  private readonly timers = new Map<number, NodeJS.Timeout>();

  constructor(private readonly o: TestNumbersOptions) {
    const { onError } = o;
    this.periodic = new Periodic({ everyMs: LOOK_INTERVAL_MS, work: () => this.look(), onError });
  }

  /** Something was just committed that a phone or a carrier will act upon in its time. */
  expect(): void {
    const slot = Math.ceil((performance.now() + ACTS_AFTER_SECONDS * 1000) / SLOT_MS);
    if (this.timers.has(slot)) return;
    const timer = setTimeout(
      () => {
        this.timers.delete(slot);
        this.periodic.nudge();
      },
      slot * SLOT_MS - performance.now(),
    );
    this.timers.set(slot, timer.unref());
  }

  async stop(): Promise<void> {
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
    await this.periodic.stop();
  }

  private async look(): Promise<boolean> {
    return this.run((tx) => this.o.answers.act(tx));
  }

  private async run(step: Step): Promise<boolean> {
    const { eventIds, full } = await this.o.database.transaction(step);
    if (eventIds.length > 0) this.o.onEvents(eventIds);
    return full;
  }
}
