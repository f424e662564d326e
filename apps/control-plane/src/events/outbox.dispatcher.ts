import { firstIdAt, type Uuid } from '@countersign/ids';
import { DatabaseClock } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { Inject, Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { EventJobNotifier } from '../notifiers/event-job.notifier.js';
import { FailureLog } from '../operations/failure-log.js';
import { Mutex } from './mutex.js';
import { MAX_SET, Outbox } from './outbox.js';

/** How often undispatched events are read whose wake-up was lost (architecture: a missing job is found within 5 s). */
const POLL_INTERVAL_MS = 2_000;
/** Events of this age and younger are polled for: wake-ups are lost now and then, and each is found by the next poll. */
const POLLED_MS = 120_000;
/** How often, and after every failure, older ones are looked for, too: those that no process could dispatch. */
const WIDE_POLL_INTERVAL_MS = 30_000;
/** Ids of wake-ups that wait for a run at most; more are found by the poll. */
const MAX_PENDING_IDS = 5_000;

/**
 * Dispatches events soon after their commit: those named by wake-ups at once, all others by a poll. Rows decide what is
 * dispatched, so a lost wake-up costs two seconds, a doubled one nothing, and any number of processes may dispatch.
 */
@Injectable()
export class OutboxDispatcher {
  private readonly onError: (error: unknown) => void;
  private readonly loop: PollLoop;
  private readonly pendingIds: Uuid[] = [];
  /** The last poll found a full set. */
  private morePolled = false;
  private pollDueMs = 0;
  private widePollDueMs = 0;
  /** A dispatch has failed since the last poll. */
  private failed = false;

  constructor(
    @Inject(Outbox) private readonly outbox: Pick<Outbox, 'dispatchNamed' | 'dispatchUndispatched'>,
    /** Shared with the webhook dispatcher: a dispatch and a claim at once would both use the same capacity of a host. */
    mutex: Mutex,
    notifier: EventJobNotifier,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
    @Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'nowMs'>,
  ) {
    this.onError = failures.about('outbox dispatcher: dispatching events');
    this.loop = new PollLoop({
      everyMs: POLL_INTERVAL_MS,
      work: () => mutex.runExclusive(() => this.run()),
      onError: this.onError,
    });
    this.loop.trigger();
    notifier.connect((ids) => this.wake(ids));
  }

  /** Dispatches these events, which were just committed. Never throws, never waits. */
  wake(eventIds: readonly Uuid[]): void {
    if (this.pendingIds.length + eventIds.length <= MAX_PENDING_IDS) this.pendingIds.push(...eventIds);
    this.loop.trigger();
  }

  /** Starts no more dispatches and waits for the one under way. */
  @OnStop('outbox')
  async stop(): Promise<void> {
    await this.loop.stop();
  }

  /** True when more is waiting. */
  private async run(): Promise<boolean> {
    const isPollDue = performance.now() >= this.pollDueMs;
    const named = this.pendingIds.splice(0, MAX_SET);
    if (named.length > 0) await this.attempt(() => this.outbox.dispatchNamed(named));
    const polls = isPollDue || this.morePolled;
    const polled = polls ? await this.poll() : 0;
    this.morePolled = polled === MAX_SET;
    if (isPollDue) this.pollDueMs = performance.now() + POLL_INTERVAL_MS;
    return this.pendingIds.length > 0 || this.morePolled;
  }

  /** Resolves with the number of events. Few are older than POLLED_MS, and reading past the entries of dispatched ones takes time. */
  private async poll(): Promise<number> {
    const isWide = performance.now() >= this.widePollDueMs;
    const fromMs = isWide ? 0 : Math.max(0, this.clock.nowMs() - POLLED_MS);
    const polled = await this.attempt(() => this.outbox.dispatchUndispatched(firstIdAt(fromMs)));
    if (isWide && polled < MAX_SET) this.widePollDueMs = performance.now() + WIDE_POLL_INTERVAL_MS;
    if (this.failed) this.widePollDueMs = 0;
    this.failed = false;
    return polled;
  }

  /** Resolves with the number of events; 0 after a failure. Named events that failed are retried by the next poll. */
  private async attempt(dispatch: () => Promise<number>): Promise<number> {
    try {
      return await dispatch();
    } catch (error) {
      this.onError(error);
      this.failed = true;
      return 0;
    }
  }
}
