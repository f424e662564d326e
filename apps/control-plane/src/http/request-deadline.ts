import { OnStart, OnStop } from '../composition/phases.js';

/**
 * From the headers of a request to its response, excluding the transfer of the body; the rest of 3 s is for the
 * network.
 */
export const REQUEST_BUDGET_MS = 2_500;
/** The server's request timeout ends a slower body; the entry is removed too. */
const MAX_READING_MS = 30_000;
const SWEEP_INTERVAL_MS = 100;

interface OpenRequest {
  readonly answerLate: () => void;
  dueMs: number;
  /** Start and latest end of a pause, during which the deadline does not advance. */
  pause: { readonly sinceMs: number; readonly untilMs: number } | null;
  /** Total time of waits in `pauseWhile`. */
  waitedMs: number;
}

/**
 * Answers requests that are overdue: key authentication and session writes each have a deadline of their own, and this
 * one bounds their sum (contract: 503 within 3 s when the database is away). One sweep for all, since a timer per
 * request would cost more than most requests.
 */
export class RequestDeadline {
  private readonly open = new Map<object, OpenRequest>();
  private readonly inProgressNow = new Set<object>();
  private readonly progressListeners: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  @OnStart('requests')
  start(): void {
    this.timer = setInterval(() => this.sweep(), SWEEP_INTERVAL_MS);
    this.timer.unref();
  }

  @OnStop('deadlines')
  stop(): void {
    clearInterval(this.timer);
  }

  /** Requests without a response. */
  get size(): number {
    return this.open.size;
  }

  /** Of these, requests that the process works on: neither their body nor an external event is awaited, and no answer is sent. */
  get inProgress(): number {
    return this.inProgressNow.size;
  }

  /** Registers a listener that is called when fewer are in progress. */
  onProgress(listener: () => void): void {
    this.progressListeners.push(listener);
  }

  /** `answerLate` is called once, if the request is not done by its deadline. */
  watch(request: object, answerLate: () => void, budgetMs = REQUEST_BUDGET_MS): void {
    this.open.set(request, { answerLate, dueMs: this.nowMs() + budgetMs, pause: null, waitedMs: 0 });
    this.inProgressNow.add(request);
  }

  /** Pauses the deadline while the body is read; the server's request timeout bounds that. */
  pause(request: object, mostMs = MAX_READING_MS): void {
    const entry = this.open.get(request);
    const sinceMs = this.nowMs();
    if (entry === undefined) return;
    entry.pause = { sinceMs, untilMs: sinceMs + mostMs };
  }

  /** Ends the pause: the body is complete. */
  resume(request: object): void {
    const entry = this.open.get(request);
    if (entry !== undefined) this.endPause(request, entry);
  }

  /** Pauses the deadline while `wait` runs, at most `mostMs`: the request waits for an external event. */
  async pauseWhile<T>(request: object, mostMs: number, wait: () => Promise<T>): Promise<T> {
    this.pause(request, mostMs);
    this.endProgress(request);
    try {
      return await wait();
    } finally {
      const entry = this.open.get(request);
      if (entry !== undefined) entry.waitedMs += this.endPause(request, entry);
    }
  }

  /** Ends the progress of a request whose answer is sent, or that waits for something outside of this process. */
  endProgress(request: object): void {
    if (this.inProgressNow.delete(request)) for (const listener of this.progressListeners) listener();
  }

  /** Removes the request. Returns the time of its waits in `pauseWhile`, which latency figures exclude. */
  done(request: object): number {
    const waitedMs = this.open.get(request)?.waitedMs ?? 0;
    this.remove(request);
    return waitedMs;
  }

  /** Calls `answerLate` for every overdue request; one whose body takes long is not in progress until it is complete. */
  sweep(): void {
    const nowMs = this.nowMs();
    for (const [request, entry] of this.open) {
      // A body that arrives with its headers does not interrupt the progress of its request.
      if (entry.pause !== null && nowMs - entry.pause.sinceMs >= SWEEP_INTERVAL_MS) this.endProgress(request);
      if ((entry.pause?.untilMs ?? entry.dueMs) > nowMs) continue;
      this.remove(request);
      entry.answerLate();
    }
  }

  /** Ends a pause and returns its length. */
  private endPause(request: object, entry: OpenRequest): number {
    if (entry.pause === null) return 0;
    const pausedMs = this.nowMs() - entry.pause.sinceMs;
    entry.dueMs += pausedMs;
    entry.pause = null;
    this.inProgressNow.add(request);
    return pausedMs;
  }

  private remove(request: object): void {
    this.open.delete(request);
    this.endProgress(request);
  }
}
