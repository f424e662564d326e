import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Metrics } from '@countersign/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import type { ConnectionStanding } from './connection-limits.js';
import { RefusedRequest } from './errors.js';
import { RawResponses } from './raw-responses.js';
import { CLASSES, type RequestClass, RequestClasses } from './request-classes.js';
import { RequestDeadline } from './request-deadline.js';

/**
 * Requests in progress in this process below which one more of a class begins. They are several transactions of PostgreSQL; more of
 * them take memory, and none is answered sooner.
 */
const MOST_IN_PROGRESS: Readonly<Record<RequestClass, number>> = { session: 384, create: 256, report: 128 };
/**
 * Requests that begin in one turn of the event loop. In each turn the server accepts one connection and serves all that have sent
 * something: a turn in which hundreds of requests begin keeps new connections waiting.
 */
const MOST_IN_A_TURN = 16;
/** Requests that wait to begin; one more is refused. At 4,000 requests a second the last of them begins after a quarter of a second. */
const MAX_WAITING = 1_024;
/** A request that has waited for so long is refused. */
const MAX_WAIT_MS = 1_000;
const SWEEP_INTERVAL_MS = 20;
/** When a refused caller may come back. */
const RETRY_AFTER_SECONDS = 2;
/**
 * How long the next request rests of a connection whose address has used up its quota of calls without a valid key, unless little is in
 * progress: each answer lets such a client send the next request at once.
 */
const KEYLESS_REST_MS = 5_000;
const LITTLE_IN_PROGRESS = 32;
const OVERLOADED = new RefusedRequest({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: RETRY_AFTER_SECONDS });

interface Waiting {
  readonly kind: RequestClass;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly begin: () => void;
  readonly standing: ConnectionStanding;
  /** From when on it waits, on the monotonic clock: its arrival, or the end of its rest. */
  readonly sinceMs: number;
}

/**
 * Lets requests begin while few are in progress; the others wait, before anything is done for them, and those beyond a bound are
 * refused. Without this a process beyond its capacity begins all of them, each waits for all others, and when they are answered,
 * late, nobody waits for the answers.
 *
 * A refusal costs half as much as a request that is served. So that refusals do not take the time of the others, the next request of a
 * connection that was refused rests until the time of Retry-After is over, unless no other one waits. Connections of proxies do not rest:
 * their next request is of somebody else.
 */
@Injectable()
export class RequestQueue {
  readonly #waiting: Readonly<Record<RequestClass, Waiting[]>> = { session: [], create: [], report: [] };
  #size = 0;
  #begunInTurn = 0;
  readonly #endTurn = (): void => {
    this.#begunInTurn = 0;
    this.beginNext();
  };
  #resting: Waiting[] = [];
  /** Of connections without a valid key: they do not begin earlier when no other request waits. */
  #restingKeyless: Waiting[] = [];
  /** Until when such connections rest, on the monotonic clock. */
  readonly #keylessUntilMs = new WeakMap<Socket, number>();
  /** Until when the requests of a connection rest, on the monotonic clock. */
  readonly #restsUntilMs = new WeakMap<Socket, number>();
  readonly #waitedMs = new WeakMap<IncomingMessage, number>();
  readonly #classes = new RequestClasses();
  readonly #refused;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly deadline: RequestDeadline,
    @Inject(RawResponses) private readonly responses: Pick<RawResponses, 'refuseUnread'>,
    @Inject(Metrics) metrics: Pick<Metrics, 'counter' | 'gauge'>,
  ) {
    deadline.onProgress(() => this.beginNext());
    const open = (): number => deadline.size;
    const waiting = (): number => this.#size + this.#resting.length + this.#restingKeyless.length;
    metrics.gauge({ name: 'requests_open', help: 'Requests that have begun, without a response yet.', read: open });
    metrics.gauge({ name: 'requests_waiting', help: 'Requests that wait to begin.', read: waiting });
    this.#refused = metrics.counter({
      name: 'http_requests_shed_total',
      help: 'Requests answered 503 before anything was done for them, because too many waited, by class.',
      labels: ['class'],
    });
  }

  /** `begin` is called at once, later, or never: then the request is answered 503. */
  add(request: IncomingMessage, response: ServerResponse, standing: ConnectionStanding, begin: () => void): void {
    // Of too many pipelined requests, the connection is closed already.
    if (request.socket.destroyed) return;
    const nowMs = performance.now();
    const kind = this.#classes.classOf(request, standing, nowMs);
    const keylessUntilMs = this.#keylessUntilMs.get(request.socket) ?? 0;
    if (keylessUntilMs > nowMs && this.deadline.inProgress >= LITTLE_IN_PROGRESS) {
      this.#restingKeyless.push({ kind, request, response, begin, standing, sinceMs: keylessUntilMs });
      this.sweepLater();
      return;
    }
    if (this.#size === 0 && this.mayBegin({ kind })) {
      this.countBegun();
      begin();
      return;
    }
    const sinceMs = Math.max(nowMs, this.#restsUntilMs.get(request.socket) ?? 0);
    const entry = { kind, request, response, begin, standing, sinceMs };
    if (sinceMs > nowMs) this.#resting.push(entry);
    else this.enqueue(entry);
    this.sweepLater();
  }

  /** Call when a request was refused because all that its key, or its address without one, may send was sent. */
  noteQuotaExceeded(request: IncomingMessage, standing: ConnectionStanding): void {
    const nowMs = performance.now();
    this.#classes.noteQuotaExceeded(request, nowMs);
    if (standing === 'unknown') this.#keylessUntilMs.set(request.socket, nowMs + KEYLESS_REST_MS);
  }

  /** How long a request has waited to begin, since it last rested. */
  waitedMs(request: IncomingMessage): number {
    return this.#waitedMs.get(request) ?? 0;
  }

  private enqueue(entry: Waiting): void {
    if (this.#size >= MAX_WAITING) {
      this.refuse(entry);
      return;
    }
    this.#waiting[entry.kind].push(entry);
    this.#size += 1;
    this.beginNext();
  }

  private beginNext(): void {
    for (const kind of CLASSES) {
      const waiting = this.#waiting[kind];
      while (waiting.length > 0 && this.mayBegin({ kind })) {
        this.#size -= 1;
        this.begin(waiting.shift());
      }
    }
    while (this.#size === 0 && this.#resting[0] !== undefined && this.mayBegin(this.#resting[0])) {
      this.begin(this.#resting.shift());
    }
  }

  private mayBegin({ kind }: Pick<Waiting, 'kind'>): boolean {
    return this.#begunInTurn < MOST_IN_A_TURN && this.deadline.inProgress < MOST_IN_PROGRESS[kind];
  }

  private countBegun(): void {
    if (this.#begunInTurn === 0) setImmediate(this.#endTurn);
    this.#begunInTurn += 1;
  }

  /** Begins a request unless its connection is closed. */
  private begin(entry: Waiting | undefined): void {
    if (entry === undefined || entry.request.socket.destroyed) return;
    this.countBegun();
    this.#waitedMs.set(entry.request, Math.max(0, performance.now() - entry.sinceMs));
    entry.begin();
  }

  private sweepLater(): void {
    const isEmpty = this.#size === 0 && this.#resting.length === 0 && this.#restingKeyless.length === 0;
    if (this.#timer !== undefined || isEmpty) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.sweep(performance.now());
      this.sweepLater();
    }, SWEEP_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Refuses those that have waited for too long; those that have rested wait, or are refused. */
  private sweep(nowMs: number): void {
    for (const kind of CLASSES) {
      const waiting = this.#waiting[kind];
      // They are in the order of their arrival.
      const kept = waiting.findIndex(({ sinceMs }) => sinceMs + MAX_WAIT_MS > nowMs);
      const expired = waiting.splice(0, kept < 0 ? waiting.length : kept);
      this.#size -= expired.length;
      for (const entry of expired) this.refuse(entry);
    }
    const rested = [...this.#resting, ...this.#restingKeyless].filter(({ sinceMs }) => sinceMs <= nowMs);
    this.#resting = this.#resting.filter(({ sinceMs }) => sinceMs > nowMs);
    this.#restingKeyless = this.#restingKeyless.filter(({ sinceMs }) => sinceMs > nowMs);
    for (const entry of rested) this.enqueue(entry);
  }

  private refuse({ kind, request, response, standing }: Waiting): void {
    if (request.socket.destroyed) return;
    this.#refused.inc({ class: kind });
    if (standing !== 'shared') this.#restsUntilMs.set(request.socket, performance.now() + RETRY_AFTER_SECONDS * 1_000);
    void this.responses.refuseUnread(request, response, OVERLOADED);
  }
}
