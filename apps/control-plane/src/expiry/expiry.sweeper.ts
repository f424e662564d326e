import { PollLoop } from '@countersign/schedule';
import type { ExpiredCounts, SessionStore } from '@countersign/session';

const SWEEP_INTERVAL_MS = 1_000;
/** Sessions in one transaction at most. If more are due, the next run follows at once. */
const MAX_SWEPT = 200;

export interface SweeperOptions {
  readonly sessions: Pick<SessionStore, 'expireDueSessions'>;
  readonly onSwept: (counts: ExpiredCounts) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Marks expired sessions within about a second and writes their events. No request depends on it: a session is shown as
 * expired from `expires_at` on. Any number of processes may run it.
 */
export class ExpirySweeper {
  private readonly pollLoop: PollLoop;

  constructor({ sessions, onSwept, onError }: SweeperOptions) {
    this.pollLoop = new PollLoop({
      everyMs: SWEEP_INTERVAL_MS,
      work: async () => {
        const counts = await sessions.expireDueSessions(MAX_SWEPT);
        onSwept(counts);
        return counts.live + counts.test >= MAX_SWEPT;
      },
      onError,
    });
  }

  async stop(): Promise<void> {
    await this.pollLoop.stop();
  }
}
