import { PollLoop } from '@countersign/schedule';
import type { ExpiredCounts, SessionStore } from '@countersign/session';

const SWEEP_INTERVAL_MS = 1_000;
/** Sessions in one transaction at most; while a sweep is full the next one follows at once. */
const MAX_SWEPT = 200;

export interface SweeperOptions {
  readonly sessions: Pick<SessionStore, 'expireDueSessions'>;
  readonly onSwept: (counts: ExpiredCounts) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Writes down, within about a second, that sessions have expired, and with it their events. Nobody waits for it: a
 * session reads as expired from the moment its time is up. Any number of processes may sweep.
 */
export class ExpirySweeper {
  private readonly periodic: PollLoop;

  constructor({ sessions, onSwept, onError }: SweeperOptions) {
    this.periodic = new PollLoop({
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
    await this.periodic.stop();
  }
}
