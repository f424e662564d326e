import { PollLoop } from '@countersign/schedule';
import { SessionStore } from '@countersign/session';
import { Injectable } from '@nestjs/common';
import { OnStart, OnStop } from '../composition/phases.js';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import { FailureLog } from '../operations/failure-log.js';

const SWEEP_INTERVAL_MS = 1_000;
/** Sessions in one transaction at most. If more are due, the next run follows at once. */
const MAX_SWEPT = 200;

/**
 * Marks expired sessions within about a second and writes their events. No request depends on it: a session is shown as
 * expired from `expires_at` on. Any number of processes may run it.
 */
@Injectable()
export class ExpirySweeper {
  private pollLoop: PollLoop | undefined;

  constructor(
    private readonly sessions: SessionStore,
    private readonly metrics: ControlPlaneMetrics,
    private readonly failures: FailureLog,
  ) {}

  @OnStart('workers')
  start(): void {
    this.pollLoop = new PollLoop({
      everyMs: SWEEP_INTERVAL_MS,
      work: async () => {
        const counts = await this.sessions.expireDueSessions(MAX_SWEPT);
        this.metrics.countExpired(counts);
        return counts.live + counts.test >= MAX_SWEPT;
      },
      onError: this.failures.about('expiry sweeper: expiring sessions'),
    });
  }

  @OnStop('consumers')
  async stop(): Promise<void> {
    await this.pollLoop?.stop();
  }
}
