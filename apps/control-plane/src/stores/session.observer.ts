import { availableParallelism } from 'node:os';
import type { Uuid } from '@countersign/ids';
import { SIGN_IN_ACCOUNT_ID } from '@countersign/keys';
import type { CodeCheck, SessionBatch, SessionListener } from '@countersign/session';
import { ControlPlaneSettings } from '@countersign/settings';
import { Injectable } from '@nestjs/common';
import { CodeChecks } from '../guard/code-checks.store.js';
import { EventJobNotifier } from '../notifiers/event-job.notifier.js';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';

/**
 * Sessions in one transaction at most: half of 64 busy connections. With all of them in one set, this process and PostgreSQL
 * wait for each other in turns, which costs an eighth of the creates (64 connections, two cores).
 */
const MAX_SESSIONS_PER_BATCH = 32;

/**
 * Concurrent batches. On two cores for the whole service a second one makes both smaller and is a tenth slower (create, 64
 * connections); with more cores PostgreSQL works on one batch while the next is collected.
 */
const BATCHES_IN_FLIGHT = availableParallelism() > 2 ? 2 : 1;

/** The reactions to writes of sessions, and the sizes of their batches. */
@Injectable()
export class SessionObserver implements SessionListener {
  readonly batch;

  constructor(
    private readonly notifier: EventJobNotifier,
    private readonly codeChecks: CodeChecks,
    metrics: ControlPlaneMetrics,
    { batchMaxCommands }: ControlPlaneSettings,
  ) {
    this.batch = {
      maxBatch: Math.min(batchMaxCommands, MAX_SESSIONS_PER_BATCH),
      maxInFlight: BATCHES_IN_FLIGHT,
      onBatch: (name: SessionBatch, size: number) => metrics.countBatch(name, size),
    };
  }

  onEvents(ids: readonly Uuid[]): void {
    this.notifier.notify(ids);
  }

  /** Sign-ins to the console are nobody's traffic. */
  onChecks(checks: readonly CodeCheck[]): void {
    const counted = checks.filter(({ accountId }) => accountId !== SIGN_IN_ACCOUNT_ID);
    if (counted.length > 0) this.codeChecks.enqueue(counted);
  }
}
