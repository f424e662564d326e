import { DatabaseUnavailable, TransactionConflict } from './database-errors.js';

export interface BatcherOptions<Command, Result> {
  /** For messages and metrics. */
  readonly name: string;
  /**
   * Does all commands in one transaction and answers one result for each, in their order. Must be safe to run twice:
   * the answer of a commit can be lost. Locks its rows in the order of their ids, whatever order the commands have.
   */
  readonly run: (commands: readonly Command[]) => Promise<readonly Result[]>;
  /** What a command must have for itself: commands that share a key run one after the other, in the order of `add`. */
  readonly keysOf: (command: Command) => readonly string[];
  /** Commands in one transaction at most (50 to 100 is the useful range). */
  readonly maxBatch: number;
  /** Transactions at a time at most; 1 or 2 on a small machine. */
  readonly maxInFlight: number;
  /** Commands that wait at most; one more is refused with BatcherFull. */
  readonly maxQueued: number;
  /** A command is answered within this time, waiting included. Default 2,900. */
  readonly deadlineMs?: number;
  /** Told after each transaction: how many commands it had and how long it took. */
  readonly onBatch?: (size: number, elapsedMs: number) => void;
}

/** More commands wait than may: the caller sheds load. */
export class BatcherFull extends Error {
  override readonly name = 'BatcherFull';
}

/** `run` broke its promise; what it committed is not known, so nothing is run again. */
class BrokenRun extends Error {
  override readonly name = 'BrokenRun';
}

/** Failures that do not belong to one command of the batch. */
const failsTogether = (error: unknown): boolean => error instanceof DatabaseUnavailable || error instanceof BrokenRun;

const DEFAULT_DEADLINE_MS = 2_900;
/** How often a batch that lost a deadlock or a serialization is run, the first time included. */
const CONFLICT_ATTEMPTS = 5;
/** Places already taken from the front of the ready list before they are cut off, so that cutting costs next to nothing. */
const COMPACT_FROM = 1_024;

interface Entry<Command, Result> {
  readonly command: Command;
  readonly keys: readonly string[];
  readonly dueMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** Earlier commands that hold a key of this one, counted once per key. */
  blockers: number;
  /** Commands that wait for this one, once per key. */
  followers: Entry<Command, Result>[];
  /** Its caller has had an answer: the deadline passed first. */
  answered: boolean;
}

/**
 * Turns commands of one moment into sets: callers add single commands, PostgreSQL sees short transactions of many.
 *
 * - No added wait: a batch starts at the end of the turn of the event loop in which a place is free.
 * - Commands that share a key never share a batch and run in the order they were added. The price per command is
 *   constant: each waits for the last one of each of its keys, and is counted down when that one is done.
 * - A data error halves the batch until it has found the one command it belongs to; that one fails alone.
 * - A lost deadlock or serialization runs the batch again; DatabaseUnavailable fails the whole batch at once.
 */
export class Batcher<Command, Result> {
  readonly #options: BatcherOptions<Command, Result>;
  readonly #deadlineMs: number;
  /** Commands with no one before them, oldest first; those before `#readyFrom` have been taken. */
  readonly #ready: Entry<Command, Result>[] = [];
  #readyFrom = 0;
  /** The last command of each key that is not done. */
  readonly #tails = new Map<string, Entry<Command, Result>>();
  /** Commands whose callers wait for an answer, in the order of `add`, and so of their deadlines. */
  readonly #unanswered = new Set<Entry<Command, Result>>();
  readonly #idleWaiters: (() => void)[] = [];
  #queued = 0;
  #inFlight = 0;
  #flushing = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BatcherOptions<Command, Result>) {
    this.#options = options;
    this.#deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
  }

  /** Commands that wait for a place in a batch. */
  get queued(): number {
    return this.#queued;
  }

  /** Transactions that are running. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * The command's own result or failure. Rejects with BatcherFull, and with DatabaseUnavailable when the deadline
   * passes first (a command that was running may then still be committed).
   */
  add(command: Command): Promise<Result> {
    if (this.#queued >= this.#options.maxQueued) {
      return Promise.reject(new BatcherFull(`${this.#options.name}: ${this.#queued} commands are waiting`));
    }
    return new Promise<Result>((resolve, reject) => {
      const keys = this.#options.keysOf(command);
      const dueMs = performance.now() + this.#deadlineMs;
      const entry = { command, keys, dueMs, resolve, reject, blockers: 0, followers: [], answered: false };
      this.#queued++;
      this.#unanswered.add(entry);
      this.#watchDeadlines();
      this.#takeKeys(entry);
      if (entry.blockers === 0) this.#makeReady(entry);
    });
  }

  /** Resolves once nothing waits and nothing runs. Stop adding first: later commands are waited for too. */
  drain(): Promise<void> {
    if (this.#queued === 0 && this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  #takeKeys(entry: Entry<Command, Result>): void {
    for (const key of entry.keys) {
      const before = this.#tails.get(key);
      if (before === entry) continue;
      if (before !== undefined) {
        before.followers.push(entry);
        entry.blockers++;
      }
      this.#tails.set(key, entry);
    }
  }

  #freeKeys(entry: Entry<Command, Result>): void {
    for (const key of entry.keys) if (this.#tails.get(key) === entry) this.#tails.delete(key);
    for (const follower of entry.followers) if (--follower.blockers === 0) this.#makeReady(follower);
  }

  #makeReady(entry: Entry<Command, Result>): void {
    this.#ready.push(entry);
    this.#flushSoon();
  }

  /** At the end of this turn of the event loop, so that commands of one moment share a batch. */
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#inFlight < this.#options.maxInFlight) {
      const batch = this.#takeBatch();
      if (batch.length === 0) break;
      this.#inFlight++;
      void this.#work(batch).finally(() => {
        this.#inFlight--;
        this.#flushSoon();
      });
    }
    if (this.#queued === 0 && this.#inFlight === 0) for (const wake of this.#idleWaiters.splice(0)) wake();
  }

  #takeBatch(): Entry<Command, Result>[] {
    const batch: Entry<Command, Result>[] = [];
    while (batch.length < this.#options.maxBatch) {
      const entry = this.#ready[this.#readyFrom];
      if (entry === undefined) break;
      this.#readyFrom++;
      this.#queued--;
      // One whose caller has been told that the time is over is not run; those behind it are let through.
      if (entry.answered) this.#freeKeys(entry);
      else batch.push(entry);
    }
    if (this.#readyFrom === this.#ready.length || this.#readyFrom >= COMPACT_FROM) {
      this.#ready.splice(0, this.#readyFrom);
      this.#readyFrom = 0;
    }
    return batch;
  }

  /** Runs a batch, or on a data error its halves one after the other, until every command has its own outcome. */
  async #work(batch: readonly Entry<Command, Result>[]): Promise<void> {
    const startMs = performance.now();
    try {
      const results = await this.#run(batch.map((entry) => entry.command));
      results.forEach((result, index) => this.#done(batch[index], (entry) => entry.resolve(result)));
    } catch (error) {
      if (batch.length > 1 && !failsTogether(error)) {
        const middle = batch.length >> 1;
        await this.#work(this.#stillWanted(batch.slice(0, middle)));
        await this.#work(this.#stillWanted(batch.slice(middle)));
        return;
      }
      for (const each of batch) this.#done(each, (entry) => entry.reject(error));
    }
    this.#options.onBatch?.(batch.length, performance.now() - startMs);
  }

  /** Halving takes time, and some callers may have had their deadline meanwhile. */
  #stillWanted(entries: readonly Entry<Command, Result>[]): Entry<Command, Result>[] {
    for (const entry of entries) if (entry.answered) this.#freeKeys(entry);
    return entries.filter((entry) => !entry.answered);
  }

  async #run(commands: readonly Command[]): Promise<readonly Result[]> {
    if (commands.length === 0) return [];
    for (let attempts = 1; ; attempts++) {
      try {
        const results = await this.#options.run(commands);
        if (results.length === commands.length) return results;
        throw new BrokenRun(`${this.#options.name}: ${results.length} results of ${commands.length} commands`);
      } catch (error) {
        if (!(error instanceof TransactionConflict)) throw error;
        if (attempts === CONFLICT_ATTEMPTS) {
          throw new DatabaseUnavailable(`${this.#options.name}: still in conflict`, { cause: error });
        }
      }
    }
  }

  #done(entry: Entry<Command, Result> | undefined, answer: (entry: Entry<Command, Result>) => void): void {
    if (entry === undefined) return;
    this.#freeKeys(entry);
    this.#answer(entry, answer);
  }

  #answer(entry: Entry<Command, Result>, answer: (entry: Entry<Command, Result>) => void): void {
    if (entry.answered) return;
    entry.answered = true;
    this.#unanswered.delete(entry);
    answer(entry);
  }

  /** One timer for all: the oldest command is due first. */
  #watchDeadlines(): void {
    if (this.#timer !== undefined) return;
    const [oldest] = this.#unanswered;
    if (oldest === undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#expireDue(performance.now());
        this.#watchDeadlines();
      },
      Math.max(1, Math.ceil(oldest.dueMs - performance.now())),
    );
    this.#timer.unref();
  }

  #expireDue(nowMs: number): void {
    for (const entry of this.#unanswered) {
      if (entry.dueMs > nowMs) return;
      const late = new DatabaseUnavailable(`${this.#options.name}: no answer within ${this.#deadlineMs} ms`);
      this.#answer(entry, () => entry.reject(late));
    }
  }
}
