/** From the head of a request to its answer, the time its body takes on the line not counted; the rest of 3 s is the line. */
export const REQUEST_BUDGET_MS = 2_500;
/** A body that takes longer has been given up by the server itself (its request timeout); the entry goes too. */
const MAX_READING_MS = 30_000;
const SWEEP_INTERVAL_MS = 100;

interface OpenRequest {
  readonly answerLate: () => void;
  dueMs: number;
  /** Since when the body is being read; the request's own time stands still meanwhile. */
  readingSinceMs: number | null;
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
    this.open.set(request, { answerLate, dueMs: this.nowMs() + budgetMs, readingSinceMs: null });
  }

  /** The body is being read from now on; the server's request timeout bounds that. */
  pause(request: object): void {
    const entry = this.open.get(request);
    if (entry !== undefined) entry.readingSinceMs = this.nowMs();
  }

  /** The body is complete. */
  resume(request: object): void {
    const entry = this.open.get(request);
    if (entry === undefined || entry.readingSinceMs === null) return;
    entry.dueMs += this.nowMs() - entry.readingSinceMs;
    entry.readingSinceMs = null;
  }

  done(request: object): void {
    this.open.delete(request);
  }

  /** Answers for every request that is overdue. */
  sweep(): void {
    const nowMs = this.nowMs();
    for (const [request, entry] of this.open) {
      const dueMs = entry.readingSinceMs === null ? entry.dueMs : entry.readingSinceMs + MAX_READING_MS;
      if (dueMs > nowMs) continue;
      this.open.delete(request);
      entry.answerLate();
    }
  }
}
