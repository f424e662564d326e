import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Unread octets of answers to calls with a key, in this process. */
const MAX_OCTETS = 64 * 1024 * 1024;
/** Unread octets of answers to one key: some fifty of the largest pages. */
const MAX_OCTETS_OF_KEY = 16 * 1024 * 1024;
/** Unfinished answers of public routes (no API key) at a time; each has up to some 200 KB. */
const MAX_PUBLIC_ANSWERS = 32;
/** From handing an answer to its socket to the system having taken its last octet. */
const READ_WITHIN_MS = 30_000;
const SWEEP_INTERVAL_MS = 1_000;
/** In place of a caller: answers of public routes, counted from their requests on. */
const PUBLIC = Symbol('public routes');

export interface UnreadLimits {
  readonly octets: number;
  readonly octetsOfKey: number;
  readonly publicAnswers: number;
}

type Owner = string | typeof PUBLIC | null;

interface UnreadAnswer {
  readonly socket: Socket;
  readonly owner: Owner;
  readonly octets: number;
  /** Infinity before the answer is sent. */
  readonly sentMs: number;
}

/** Unread answers of one owner, the oldest first, and their octets. */
interface Backlog {
  readonly answers: Set<UnreadAnswer>;
  octets: number;
}

const LIMITS: UnreadLimits = {
  octets: MAX_OCTETS,
  octetsOfKey: MAX_OCTETS_OF_KEY,
  publicAnswers: MAX_PUBLIC_ANSWERS,
};

/**
 * Answers that their clients have not read yet. When a key exceeds its octets, the connection of its oldest answer is
 * destroyed; when the process exceeds its octets, the oldest of the key with the most; when there are too many of public
 * routes, the oldest of those; and every connection whose client takes longer than 30 s. Node's own socket timeout is no
 * bound: a client renews it by reading an octet now and then.
 */
export class UnreadAnswers {
  readonly #backlogs = new Map<Owner, Backlog>();
  #octets = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: UnreadLimits = LIMITS,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Octets that are counted. */
  get octets(): number {
    return this.#octets;
  }

  start(): void {
    this.#timer = setInterval(() => this.sweep(), SWEEP_INTERVAL_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** A request of a public route arrived: counts its answer. */
  trackPublic(socket: Socket, response: ServerResponse): void {
    const answer = { socket, owner: PUBLIC, octets: 0, sentMs: Number.POSITIVE_INFINITY } as const;
    const backlog = this.add(answer, response);
    const isWithin = (): boolean => backlog.answers.size <= this.limits.publicAnswers;
    if (!isWithin()) this.closeOldest(backlog, answer, isWithin);
  }

  /** An answer is about to be sent. Without a caller only its time is bounded, and its number by `trackPublic`. */
  track(socket: Socket, response: ServerResponse, caller: string | null, octets: number): void {
    const answer = { socket, owner: caller, octets: caller === null ? 0 : octets, sentMs: this.nowMs() };
    const backlog = this.add(answer, response);
    if (backlog.octets > this.limits.octetsOfKey) this.closeOldest(backlog, answer);
    if (this.#octets > this.limits.octets) this.closeOldest(this.largest(), answer);
  }

  /** Closes the connections of answers that are overdue. */
  sweep(): void {
    const sentBeforeMs = this.nowMs() - READ_WITHIN_MS;
    for (const { answers } of this.#backlogs.values()) {
      for (const answer of answers) {
        if (answer.sentMs <= sentBeforeMs) answer.socket.destroy();
        // Of a pipelined answer whose turn on the socket never came, Node emits no close.
        if (answer.socket.destroyed) this.remove(answer);
      }
    }
  }

  /** Closes the oldest ones until the limits hold; not the newest, which may be read at once. */
  private closeOldest(
    backlog: Backlog,
    newest: UnreadAnswer,
    isWithin = (): boolean => backlog.octets <= this.limits.octetsOfKey && this.#octets <= this.limits.octets,
  ): void {
    for (const oldest of backlog.answers) {
      if (isWithin() || oldest === newest) return;
      oldest.socket.destroy();
      this.remove(oldest);
    }
  }

  private largest(): Backlog {
    return [...this.#backlogs.values()].reduce((one, other) => (other.octets > one.octets ? other : one));
  }

  private add(answer: UnreadAnswer, response: ServerResponse): Backlog {
    const { owner, octets } = answer;
    const backlog = this.#backlogs.get(owner) ?? { answers: new Set(), octets: 0 };
    this.#backlogs.set(owner, backlog);
    backlog.answers.add(answer);
    backlog.octets += octets;
    this.#octets += octets;
    response.once('close', () => this.remove(answer));
    return backlog;
  }

  private remove(answer: UnreadAnswer): void {
    const backlog = this.#backlogs.get(answer.owner);
    if (backlog?.answers.delete(answer) !== true) return;
    backlog.octets -= answer.octets;
    this.#octets -= answer.octets;
    if (backlog.answers.size === 0) this.#backlogs.delete(answer.owner);
  }
}
