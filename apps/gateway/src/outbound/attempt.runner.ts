import { leaseKey, type BindLease } from '@countersign/carriers/leases';
import type { ClaimedMessage } from '@countersign/carriers/outbound';
import { Injectable } from '@nestjs/common';
import { BindConnections } from '../binds/bind-connections.js';
import { OnStop } from '../lifecycle/phases.js';
import { AttemptMaker } from './attempt-maker.js';
import { AttemptRecorder } from './attempt.recorder.js';
import { OutboundMetrics } from './outbound.metrics.js';
import { SubmitQueues } from './submit-queues.js';

/** Runs the attempts of claimed messages, each with its record. */
@Injectable()
export class AttemptRunner {
  /** Running attempts, including their records, with the keys of their leases. */
  private readonly running = new Map<Promise<void>, string>();

  constructor(
    private readonly queues: SubmitQueues,
    private readonly attempts: AttemptMaker,
    private readonly recorder: AttemptRecorder,
    private readonly metrics: OutboundMetrics,
    connections: BindConnections,
  ) {
    connections.beforeRelease((lease) => this.waitForRecords(lease));
  }

  startAttempt(claimed: ClaimedMessage): void {
    this.queues.reserve(claimed.plan.lease);
    const running = this.attemptAndRecord(claimed).finally(() => this.running.delete(running));
    this.running.set(running, leaseKey(claimed.plan.lease));
  }

  /** Resolves when every attempt is recorded; an unbinding link ends all its attempts. */
  @OnStop('drain batchers')
  async drain(): Promise<void> {
    await Promise.all(this.running.keys());
    await this.recorder.drain();
  }

  /** Resolves when every attempt under this lease is recorded, or has reached its time limit without the database. */
  private async waitForRecords(lease: BindLease): Promise<void> {
    const key = leaseKey(lease);
    await Promise.all([...this.running].flatMap(([attempt, under]) => (under === key ? [attempt] : [])));
  }

  /** Never rejects. */
  private async attemptAndRecord(claimed: ClaimedMessage): Promise<void> {
    const { message, plan, attempt } = claimed;
    const endsMs = performance.now() + plan.leaseSeconds * 1_000;
    const outcome = await this.attempts.makeAttempt(claimed);
    this.queues.release(plan.lease);
    const { carrier, lease } = plan;
    const record = { id: message.id, attempt, carrier, lease, outcome };
    if (await this.recorder.recordAttempt(record, endsMs)) this.metrics.attempts.inc({ outcome: outcome.kind });
  }
}
