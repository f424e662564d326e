/** From the head of a request to its answer, the time its body takes on the line not counted; the rest of 3 s is the line. */
export const REQUEST_BUDGET_MS = 2_500;
/** A body that takes longer has been given up by the server itself (its request timeout); the entry goes too. */
const MAX_READING_MS = 30_000;
const SWEEP_INTERVAL_MS = 100;

interface OpenRequest {
  readonly answerLate: () => void;
  dueMs: number;
  /** Since when it waits for somebody else, and until when at most; its own time stands still meanwhile. */
  pause: { readonly sinceMs: number; readonly untilMs: number } | null;
  /** For how long it was held in all. */
  heldMs: number;
}

/**
 * Answers for requests whose answer does not come: looking up a key and writing a session each have a deadline of their
 * own, and this one holds for their sum (contract: 503 within 3 s when the database is away). One sweep for all, since
 * a timer per request would cost more than most requests.
 */
export class RequestDeadline {
  private readonly open = new Map<object, OpenRequest>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  start(): void {
    this.timer = setInterval(() => this.sweep(), SWEEP_INTERVAL_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Requests that have not been answered. */
  get size(): number {
    return this.open.size;
  }

  /** `answerLate` is called once, if the request is not done in time. */
  watch(request: object, answerLate: () => void, budgetMs = REQUEST_BUDGET_MS): void {
    this.open.set(request, { answerLate, dueMs: this.nowMs() + budgetMs, pause: null, heldMs: 0 });
  }

  /** The body is being read from now on; the server's request timeout bounds that. */
  pause(request: object, mostMs = MAX_READING_MS): void {
    const entry = this.open.get(request);
    const sinceMs = this.nowMs();
    if (entry !== undefined) entry.pause = { sinceMs, untilMs: sinceMs + mostMs };
  }

  /** The body is complete. */
  resume(request: object): void {
    const entry = this.open.get(request);
    if (entry !== undefined) this.goOn(entry);
  }

  /** While `wait` runs, for `mostMs` at most, the request waits for somebody outside and spends no time of its own. */
  async hold<T>(request: object, mostMs: number, wait: () => Promise<T>): Promise<T> {
    this.pause(request, mostMs);
    try {
      return await wait();
    } finally {
      const entry = this.open.get(request);
      if (entry !== undefined) entry.heldMs += this.goOn(entry);
    }
  }

  /** For how long the request was held: that is nobody's slowness. */
  done(request: object): number {
    const heldMs = this.open.get(request)?.heldMs ?? 0;
    this.open.delete(request);
    return heldMs;
  }

  /** Answers for every request that is overdue. */
  sweep(): void {
    const nowMs = this.nowMs();
    for (const [request, entry] of this.open) {
      if ((entry.pause?.untilMs ?? entry.dueMs) > nowMs) continue;
      this.open.delete(request);
      entry.answerLate();
    }
  }

  /** How long the pause was. */
  private goOn(entry: OpenRequest): number {
    if (entry.pause === null) return 0;
    const pausedMs = this.nowMs() - entry.pause.sinceMs;
    entry.dueMs += pausedMs;
    entry.pause = null;
    return pausedMs;
  }
}
