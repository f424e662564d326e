import { DatabaseUnavailable, LockTimeout, TransactionConflict } from './database-errors.js';

/** The bounds of a batcher. */
export interface BatchLimits {
  /** Maximum number of commands per transaction (useful range: 50 to 100). */
  readonly maxBatch: number;
  /** Maximum number of concurrent transactions; 1 or 2 on a small machine. */
  readonly maxInFlight: number;
  /** Maximum number of queued commands; further ones are rejected with BatcherFull. */
  readonly maxQueued: number;
  /** A command is answered within this time, including its time in the queue. Default 2,900. */
  readonly deadlineMs?: number;
}

export interface BatcherOptions<Command, Result> {
  /** Name in error messages and metrics. */
  readonly name: string;
  /**
   * Executes all commands in one transaction and returns one result for each, in order. Must be safe to run twice:
   * the answer of a commit can be lost. Locks its rows in id order, whatever the order of the commands.
   */
  readonly run: (commands: readonly Command[]) => Promise<readonly Result[]>;
  /**
   * Keys that a command needs exclusively: commands that share a key run one after the other, in the order of `add`.
   */
  readonly keysOf: (command: Command) => readonly string[];
  readonly limits: BatchLimits;
  /** Called after each transaction with its number of commands and its duration. */
  readonly onBatch?: (size: number, elapsedMs: number) => void;
}

/** The queue is full: the caller sheds load. */
export class BatcherFull extends Error {
  override readonly name = 'BatcherFull';
}

/** `run` returned a wrong number of results; what it committed is unknown, so nothing is run again. */
class ResultCountMismatch extends Error {
  override readonly name = 'ResultCountMismatch';
}

/** Failures that concern the whole batch. */
const failsWholeBatch = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || error instanceof ResultCountMismatch;

const DEFAULT_DEADLINE_MS = 2_900;
/** Maximum number of runs of a batch that loses deadlocks or serializations. */
const CONFLICT_ATTEMPTS = 5;
/** Commands of a batch with a locked row that run at the same time, each in its own transaction. */
const SINGLES_IN_FLIGHT = 4;
/** Number of consumed entries at the front of the ready list before they are removed, to amortise the removal. */
const COMPACT_FROM = 1_024;

interface Entry<Command, Result> {
  readonly command: Command;
  readonly keys: readonly string[];
  readonly dueMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** Earlier commands that hold a key of this one, counted once per key. */
  blockers: number;
  /** Commands that are blocked by this one, once per key. */
  followers: Entry<Command, Result>[];
  /** Its caller was already answered: the deadline passed first. */
  answered: boolean;
}

/**
 * Batches concurrent commands: callers add single commands, PostgreSQL executes short transactions of many.
 *
 * - No added delay: a batch starts at the end of the event loop turn in which a transaction slot is free.
 * - Commands that share a key never share a batch and run in the order they were added. The cost per command is
 *   constant: each waits for the last command of each of its keys, and is counted down when that one is done.
 * - A data error halves the batch until the failing command is found; only that one fails.
 * - A row that another transaction keeps locked runs the commands of its batch one by one; only its own fails.
 * - A lost deadlock or serialization runs the batch again; DatabaseUnavailable fails the whole batch at once.
 */
export class Batcher<Command, Result> {
  readonly #options: BatcherOptions<Command, Result>;
  readonly #limits: BatchLimits;
  readonly #deadlineMs: number;
  /** Commands that are not blocked, oldest first; those before `#readyFrom` are consumed. */
  readonly #ready: Entry<Command, Result>[] = [];
  #readyFrom = 0;
  /** The last unfinished command of each key. */
  readonly #tails = new Map<string, Entry<Command, Result>>();
  /** Commands without an answer, in the order of `add`, and so of their deadlines. */
  readonly #unanswered = new Set<Entry<Command, Result>>();
  readonly #idleWaiters: (() => void)[] = [];
  #queued = 0;
  #inFlight = 0;
  #flushing = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BatcherOptions<Command, Result>) {
    this.#options = options;
    this.#limits = options.limits;
    this.#deadlineMs = options.limits.deadlineMs ?? DEFAULT_DEADLINE_MS;
  }

  /** Number of queued commands. */
  get queued(): number {
    return this.#queued;
  }

  /** Number of running transactions. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Resolves with the command's own result or rejects with its failure. Rejects with BatcherFull, and with
   * DatabaseUnavailable when the deadline passes first (a running command may then still be committed).
   */
  add(command: Command): Promise<Result> {
    if (this.#queued >= this.#limits.maxQueued) {
      return Promise.reject(new BatcherFull(`${this.#options.name}: ${this.#queued} commands are queued`));
    }
    return new Promise<Result>((resolve, reject) => {
      const keys = this.#options.keysOf(command);
      const dueMs = performance.now() + this.#deadlineMs;
      const entry = { command, keys, dueMs, resolve, reject, blockers: 0, followers: [], answered: false };
      this.#queued++;
      this.#unanswered.add(entry);
      this.#watchDeadlines();
      this.#reserveKeys(entry);
      if (entry.blockers === 0) this.#makeReady(entry);
    });
  }

  /** Resolves when nothing is queued and nothing runs. Stop adding first: later commands are awaited too. */
  drain(): Promise<void> {
    if (this.#queued === 0 && this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  #reserveKeys(entry: Entry<Command, Result>): void {
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

  #releaseKeys(entry: Entry<Command, Result>): void {
    for (const key of entry.keys) if (this.#tails.get(key) === entry) this.#tails.delete(key);
    for (const follower of entry.followers) if (--follower.blockers === 0) this.#makeReady(follower);
  }

  #makeReady(entry: Entry<Command, Result>): void {
    this.#ready.push(entry);
    this.#flushSoon();
  }

  /** At the end of this event loop turn, so that concurrent commands share a batch. */
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#inFlight < this.#limits.maxInFlight) {
      const batch = this.#nextBatch();
      if (batch.length === 0) break;
      this.#inFlight++;
      void this.#execute(batch).finally(() => {
        this.#inFlight--;
        this.#flushSoon();
      });
    }
    if (this.#queued === 0 && this.#inFlight === 0) for (const wake of this.#idleWaiters.splice(0)) wake();
  }

  #nextBatch(): Entry<Command, Result>[] {
    const batch: Entry<Command, Result>[] = [];
    while (batch.length < this.#limits.maxBatch) {
      const entry = this.#ready[this.#readyFrom];
      if (entry === undefined) break;
      this.#readyFrom++;
      this.#queued--;
      // A command past its deadline is not run; the commands blocked by it are released.
      if (entry.answered) this.#releaseKeys(entry);
      else batch.push(entry);
    }
    if (this.#readyFrom === this.#ready.length || this.#readyFrom >= COMPACT_FROM) {
      this.#ready.splice(0, this.#readyFrom);
      this.#readyFrom = 0;
    }
    return batch;
  }

  /** Runs a batch, or on a data error its halves one after the other, until every command has its own result. */
  async #execute(batch: readonly Entry<Command, Result>[]): Promise<void> {
    const startMs = performance.now();
    try {
      const results = await this.#run(batch.map((entry) => entry.command));
      results.forEach((result, index) => this.#done(batch[index], (entry) => entry.resolve(result)));
    } catch (error) {
      if (batch.length > 1 && error instanceof LockTimeout) {
        await this.#executeEach(batch);
        return;
      }
      if (batch.length > 1 && !failsWholeBatch(error)) {
        const middle = batch.length >> 1;
        await this.#execute(this.#withoutExpired(batch.slice(0, middle)));
        await this.#execute(this.#withoutExpired(batch.slice(middle)));
        return;
      }
      for (const each of batch) this.#done(each, (entry) => entry.reject(error));
    }
    this.#options.onBatch?.(batch.length, performance.now() - startMs);
  }

  /** Runs each command alone, a few at a time: halves would wait for the locked row once for each halving. */
  async #executeEach(batch: readonly Entry<Command, Result>[]): Promise<void> {
    const waiting = [...batch];
    const executeNext = async (): Promise<void> => {
      while (waiting.length > 0) await this.#execute(this.#withoutExpired(waiting.splice(0, 1)));
    };
    await Promise.all(Array.from({ length: SINGLES_IN_FLIGHT }, executeNext));
  }

  /** Commands without those whose deadline passed while the batch was halved. */
  #withoutExpired(entries: readonly Entry<Command, Result>[]): Entry<Command, Result>[] {
    for (const entry of entries) if (entry.answered) this.#releaseKeys(entry);
    return entries.filter((entry) => !entry.answered);
  }

  async #run(commands: readonly Command[]): Promise<readonly Result[]> {
    if (commands.length === 0) return [];
    for (let attempts = 1; ; attempts++) {
      try {
        const results = await this.#options.run(commands);
        if (results.length === commands.length) return results;
        throw new ResultCountMismatch(
          `${this.#options.name}: ${results.length} results of ${commands.length} commands`,
        );
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
    this.#releaseKeys(entry);
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
        this.#expireDueCommands(performance.now());
        this.#watchDeadlines();
      },
      Math.max(1, Math.ceil(oldest.dueMs - performance.now())),
    );
    this.#timer.unref();
  }

  #expireDueCommands(nowMs: number): void {
    for (const entry of this.#unanswered) {
      if (entry.dueMs > nowMs) return;
      const late = new DatabaseUnavailable(`${this.#options.name}: no answer within ${this.#deadlineMs} ms`);
      this.#answer(entry, () => entry.reject(late));
    }
  }
}
