import { MtMessageStore } from '@countersign/carriers/outbound';
import { DatabaseClock } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { testNumberOf } from './test-number.js';
import { LOCK_QUEUED_CODES, LOCK_SUBMITTED_CODES, type DueCode } from './test-numbers.sql.js';
import { ACTS_AFTER_SECONDS, idWindow, type TestStep } from './test-step.js';

/** Codes in one transaction at most. */
const MAX_CODES = 50;
/** Network error of undelivered codes: the receipt status for an absent subscriber. */
const UNDELIVERED_ERROR = 'UNDELIV';

/** Simulates the carrier of test keys: accepts a code at once and sends its receipt a second later. */
@Injectable()
export class TestCodes {
  constructor(
    private readonly clock: DatabaseClock,
    private readonly mtMessages: MtMessageStore,
  ) {}

  /** Marks queued codes as submitted. */
  readonly submitQueued: TestStep = async (tx) => {
    const due = await tx.query<DueCode>(LOCK_QUEUED_CODES, this.lockParameters());
    const steps = due.map(({ id }) => ({ id, to: 'submitted', networkError: null }) as const);
    const eventIds = await this.mtMessages.applyTestSteps(tx, steps);
    return { eventIds, count: due.length, full: due.length === MAX_CODES };
  };

  /** Records the due receipts. */
  readonly recordReceipts: TestStep = async (tx) => {
    const due = await tx.query<DueCode>(LOCK_SUBMITTED_CODES, [...this.lockParameters(), ACTS_AFTER_SECONDS]);
    const steps = due.map(({ id, destination }) =>
      testNumberOf(destination).code === 'undelivered'
        ? ({ id, to: 'undelivered', networkError: UNDELIVERED_ERROR } as const)
        : ({ id, to: 'delivered', networkError: null } as const),
    );
    const eventIds = await this.mtMessages.applyTestSteps(tx, steps);
    return { eventIds, count: due.length, full: due.length === MAX_CODES };
  };

  private lockParameters(): unknown[] {
    const { low, high } = idWindow(this.clock.nowMs());
    return [low, high, MAX_CODES];
  }
}
