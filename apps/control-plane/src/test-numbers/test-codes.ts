import type { MtMessageStore } from '@countersign/carriers/outbound';
import type { DatabaseClock } from '@countersign/postgres';
import { testNumberOf } from './test-number.js';
import { LOCK_QUEUED_CODES, LOCK_SUBMITTED_CODES, type DueCode } from './test-numbers.sql.js';
import { ACTS_AFTER_SECONDS, idWindow, type TestStep } from './test-step.js';

/** Codes in one transaction at most. */
const MAX_CODES = 50;
/** What the carrier of the table gives as its reason: the word that receipts have for a phone that is not there. */
const ABSENT = 'UNDELIV';

export interface TestCodesOptions {
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly ledger: Pick<MtMessageStore, 'applyTestSteps'>;
}

/** The carrier of test keys: it takes a code at once, and says a second later what became of it. */
export class TestCodes {
  constructor(private readonly o: TestCodesOptions) {}

  /** Takes what is queued. */
  readonly submit: TestStep = async (tx) => {
    const due = await tx.query<DueCode>(LOCK_QUEUED_CODES, this.look());
    const steps = due.map(({ id }) => ({ id, to: 'submitted', networkError: null }) as const);
    const eventIds = await this.o.ledger.applyTestSteps(tx, steps);
    return { eventIds, count: due.length, full: due.length === MAX_CODES };
  };

  /** Sends the receipts that are due. */
  readonly settle: TestStep = async (tx) => {
    const due = await tx.query<DueCode>(LOCK_SUBMITTED_CODES, [...this.look(), ACTS_AFTER_SECONDS]);
    const steps = due.map(({ id, destination }) =>
      testNumberOf(destination).code === 'undelivered'
        ? ({ id, to: 'undelivered', networkError: ABSENT } as const)
        : ({ id, to: 'delivered', networkError: null } as const),
    );
    const eventIds = await this.o.ledger.applyTestSteps(tx, steps);
    return { eventIds, count: due.length, full: due.length === MAX_CODES };
  };

  private look(): unknown[] {
    const { low, high } = idWindow(this.o.clock.nowMs());
    return [low, high, MAX_CODES];
  }
}
