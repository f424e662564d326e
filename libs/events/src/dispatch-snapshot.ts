/** A dispatch is found if it commits at most so long after its time. */
export const MAX_DISPATCH_MS = 120_000;
/** Times of dispatch are cut to milliseconds, and the clock of the database may be set back so far. */
const CLOCK_SLACK_MS = 1_000;

/**
 * The transactions that were over at a moment. Dispatches commit in another order than that of their times, so a reader remembers the
 * snapshot up to which it has read, not a time.
 */
export class DispatchSnapshot {
  private constructor(
    /** As PostgreSQL writes a `pg_snapshot`. */
    readonly text: string,
    /** By the database's clock, before the snapshot. */
    readonly takenAtMs: number,
    /** Transactions from this one on had not begun. */
    private readonly end: number,
    /** Open transactions, each with a time before its begin. */
    private readonly openSinceMs: ReadonlyMap<number, number>,
  ) {}

  /** `known` is another snapshot of the same process, for the times at which the open transactions began. */
  static of(text: string, takenAtMs: number, known: DispatchSnapshot | null): DispatchSnapshot {
    const [, end = '', open = ''] = text.split(':');
    const ids = open === '' ? [] : open.split(',').map(Number);
    const longAgoMs = takenAtMs - MAX_DISPATCH_MS;
    const sinceMs = new Map(ids.map((id) => [id, Math.max(longAgoMs, known?.beginOf(id) ?? longAgoMs)]));
    return new DispatchSnapshot(text, takenAtMs, Number(end), sinceMs);
  }

  /** No event that is visible in a later snapshot and not in this one was dispatched before this time. */
  earliestUnseenMs(later: DispatchSnapshot): number {
    const committed = [...this.openSinceMs].filter(([id]) => !later.openSinceMs.has(id));
    return Math.min(this.takenAtMs, ...committed.map(([, sinceMs]) => sinceMs)) - CLOCK_SLACK_MS;
  }

  /** A time before the begin of a transaction that is open; undefined when it was over. */
  private beginOf(id: number): number | undefined {
    return id >= this.end ? this.takenAtMs : this.openSinceMs.get(id);
  }
}
