import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { UnauthenticatedConnections } from './unauthenticated-connections.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set when the answer is sent. */
    unreadAnswer: UnreadAnswer | null;
  }
}

/** Unread octets of answers to calls with a key, in this process. */
const MAX_OCTETS = 64 * 1024 * 1024;
/** Unread octets of answers to the keys of one account, or to one admin key: some fifty of the largest pages. */
const MAX_OCTETS_OF_OWNER = 16 * 1024 * 1024;
/** Unfinished answers of public routes (no API key) at a time; each has up to some 200 KB. */
const MAX_PUBLIC_ANSWERS = 32;
/** From handing an answer to its socket to the system having taken its last octet. */
const READ_WITHIN_MS = 30_000;
const SWEEP_INTERVAL_MS = 1_000;
/** In place of a caller: answers of public routes, counted from their requests on. */
const PUBLIC = Symbol('public routes');

export interface UnreadLimits {
  readonly octets: number;
  readonly octetsOfOwner: number;
  readonly publicAnswers: number;
}

type Owner = string | typeof PUBLIC | null;

export interface UnreadAnswer {
  readonly socket: Socket;
  readonly backlog: Backlog;
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
  octetsOfOwner: MAX_OCTETS_OF_OWNER,
  publicAnswers: MAX_PUBLIC_ANSWERS,
};

/**
 * Answers that their clients have not read yet. When an account or an admin key exceeds its octets, the connection of its oldest answer is
 * destroyed; when the process exceeds its octets, the oldest of the one with the most; when there are too many of public
 * routes, the oldest of the network that has the most of those; and every connection whose client takes longer than 30 s. Node's own
 * socket timeout is no bound: a client renews it by reading an octet now and then.
 */
export class UnreadAnswers {
  readonly #backlogs = new Map<Owner, Backlog>();
  /** Those of public routes by the networks of their clients. */
  readonly #public: UnauthenticatedConnections<UnreadAnswer>;
  #octets = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: UnreadLimits = LIMITS,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    const { publicAnswers } = limits;
    this.#public = new UnauthenticatedConnections({ connections: publicAnswers, connectionsOfNetwork: publicAnswers });
  }

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

  /** A request of a public route arrived from this address: counts its answer. */
  trackPublic(address: string, socket: Socket, response: ServerResponse): void {
    const backlog = this.backlogOf(PUBLIC);
    const answer = this.add({ socket, backlog, octets: 0, sentMs: Number.POSITIVE_INFINITY });
    response.once('close', () => this.remove(answer));
    const evicted = this.#public.add(address, answer);
    if (evicted === null) return;
    evicted.socket.destroy();
    this.remove(evicted);
  }

  /**
   * An answer is about to be sent: call `remove` when the system has taken it. An answer whose connection is destroyed
   * first is removed within a second. Without a caller only its time is bounded, and its number by `trackPublic`.
   */
  track(socket: Socket, caller: string | null, octets: number): UnreadAnswer {
    const backlog = this.backlogOf(caller);
    const answer = this.add({ socket, backlog, octets: caller === null ? 0 : octets, sentMs: this.nowMs() });
    if (backlog.octets > this.limits.octetsOfOwner) this.closeOldest(backlog, answer);
    if (this.#octets > this.limits.octets) this.closeOldest(this.largest(), answer);
    return answer;
  }

  /** Does nothing for an answer that was removed before. */
  remove(answer: UnreadAnswer): void {
    const { backlog, octets } = answer;
    if (!backlog.answers.delete(answer)) return;
    this.#public.remove(answer);
    backlog.octets -= octets;
    this.#octets -= octets;
  }

  /** Closes the connections of answers that are overdue. */
  sweep(): void {
    const sentBeforeMs = this.nowMs() - READ_WITHIN_MS;
    for (const [owner, backlog] of this.#backlogs) {
      for (const { sentMs, socket } of backlog.answers) if (sentMs <= sentBeforeMs) socket.destroy();
      this.removeDestroyed(backlog);
      if (backlog.answers.size === 0) this.#backlogs.delete(owner);
    }
  }

  /** Closes the oldest ones until the limits hold; not the newest, which may be read at once. */
  private closeOldest(backlog: Backlog, newest: UnreadAnswer): void {
    const isWithin = (): boolean => backlog.octets <= this.limits.octetsOfOwner && this.#octets <= this.limits.octets;
    this.removeDestroyed(backlog);
    for (const oldest of backlog.answers) {
      if (isWithin() || oldest === newest) return;
      oldest.socket.destroy();
      this.remove(oldest);
    }
  }

  private removeDestroyed({ answers }: Backlog): void {
    for (const answer of answers) if (answer.socket.destroyed) this.remove(answer);
  }

  private largest(): Backlog {
    return [...this.#backlogs.values()].reduce((one, other) => (other.octets > one.octets ? other : one));
  }

  /** An empty backlog is kept until the next sweep: most answers are read before the next one of their key. */
  private backlogOf(owner: Owner): Backlog {
    let backlog = this.#backlogs.get(owner);
    if (backlog === undefined) this.#backlogs.set(owner, (backlog = { answers: new Set(), octets: 0 }));
    return backlog;
  }

  private add(answer: UnreadAnswer): UnreadAnswer {
    const { backlog, octets } = answer;
    backlog.answers.add(answer);
    backlog.octets += octets;
    this.#octets += octets;
    return answer;
  }
}
