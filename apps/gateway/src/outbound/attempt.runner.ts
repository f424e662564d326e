import { DatabaseClock } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { AttemptMaker } from './attempt-maker.js';
import { AttemptRecorder } from './attempt.recorder.js';
import type { TimedClaim } from './mt-claimer.js';
import { OutboundMetrics } from './outbound.metrics.js';
import { SubmitQueues } from './submit-queues.js';

/** Runs the attempts of claimed messages, each with its record. */
@Injectable()
export class AttemptRunner {
  constructor(
    private readonly queues: SubmitQueues,
    private readonly attempts: AttemptMaker,
    private readonly recorder: AttemptRecorder,
    private readonly metrics: OutboundMetrics,
    private readonly clock: DatabaseClock,
  ) {}

  /** One attempt with its record. Never rejects. */
  async runAttempt(claimed: TimedClaim): Promise<void> {
    const { message, plan, attempt } = claimed;
    this.queues.reserve(plan.link);
    const made = await this.attempts.makeAttempt(claimed);
    this.queues.release(plan.link);
    const { carrier, link } = plan;
    const record = { id: message.id, attempt, carrier, link, ...made };
    // An outage may outlast the claim. While this gateway holds the outcome, no other one takes the code back.
    const endsMs = performance.now() + message.expiresAt.getTime() - this.clock.nowMs();
    if (await this.recorder.recordAttempt(record, endsMs)) this.metrics.attempts.inc({ outcome: made.outcome.kind });
  }

  /** Resolves when every record is committed. */
  drain(): Promise<void> {
    return this.recorder.drain();
  }
}
