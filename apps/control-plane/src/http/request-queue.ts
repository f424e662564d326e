import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Metrics } from '@countersign/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { RawResponses, RETRY_AFTER_SECONDS } from './raw-responses.js';
import { RequestDeadline } from './request-deadline.js';

/** Classes of requests, by what waits least: calls that end a session, then new sessions, then reports and all others. */
const CLASSES = ['session', 'create', 'report'] as const;

type RequestClass = (typeof CLASSES)[number];

/**
 * Requests in progress in this process up to which one more of a class begins. Far more than PostgreSQL takes into one
 * transaction gain nothing: a request that begins later takes less memory, and is answered as soon.
 */
const MOST_IN_PROGRESS: Readonly<Record<RequestClass, number>> = { session: 384, create: 256, report: 128 };
/** Requests that wait to begin; one more is refused. At 4,000 requests a second the last of them begins after a quarter of a second. */
const MAX_WAITING = 1_024;
/** A request that has waited for so long is refused. */
const MAX_WAIT_MS = 1_000;
const SWEEP_INTERVAL_MS = 20;

interface Waiting {
  readonly kind: RequestClass;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly begin: () => void;
  /** When it is refused; of a request that rests, when it may wait. */
  readonly untilMs: number;
}

function classOf({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): RequestClass {
  if (url.startsWith('/v1/verify/')) return 'session';
  return method === 'POST' && url === '/v1/verify' ? 'create' : 'report';
}

/**
 * Lets requests begin while few are in progress; the others wait, before anything is done for them, and those beyond a bound are
 * refused. Without this a process beyond its capacity begins all of them, each waits for all others, and when they are answered,
 * late, nobody waits for the answers.
 *
 * A refusal costs half as much as a request that is served. So that refusals do not take the time of the others, the next request of a
 * connection that was refused rests until the time of Retry-After is over, unless no other one waits.
 */
@Injectable()
export class RequestQueue {
  readonly #waiting: Readonly<Record<RequestClass, Waiting[]>> = { session: [], create: [], report: [] };
  #size = 0;
  #resting: Waiting[] = [];
  /** Until when the requests of a connection rest, on the monotonic clock. */
  readonly #restsUntilMs = new WeakMap<Socket, number>();
  readonly #waitedMs = new WeakMap<IncomingMessage, number>();
  readonly #refused;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly deadline: RequestDeadline,
    @Inject(RawResponses) private readonly responses: Pick<RawResponses, 'refuseUnread'>,
    @Inject(Metrics) metrics: Pick<Metrics, 'counter' | 'gauge'>,
  ) {
    deadline.onProgress(() => this.beginNext());
    const open = (): number => deadline.size;
    const waiting = (): number => this.#size + this.#resting.length;
    metrics.gauge({ name: 'requests_open', help: 'Requests that have begun, without a response yet.', read: open });
    metrics.gauge({ name: 'requests_waiting', help: 'Requests that wait to begin.', read: waiting });
    this.#refused = metrics.counter({
      name: 'http_requests_shed_total',
      help: 'Requests answered 503 before anything was done for them, because too many waited, by class.',
      labels: ['class'],
    });
  }

  /** `begin` is called at once, later, or never: then the request is answered 503. */
  add(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const kind = classOf(request);
    if (this.#size === 0 && this.deadline.inProgress < MOST_IN_PROGRESS[kind]) {
      begin();
      return;
    }
    const nowMs = performance.now();
    const restsUntilMs = this.#restsUntilMs.get(request.socket) ?? 0;
    const entry = { kind, request, response, begin };
    if (restsUntilMs > nowMs) this.#resting.push({ ...entry, untilMs: restsUntilMs });
    else this.enqueue({ ...entry, untilMs: nowMs + MAX_WAIT_MS });
    this.sweepLater();
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
      while (waiting.length > 0 && this.deadline.inProgress < MOST_IN_PROGRESS[kind]) {
        this.#size -= 1;
        this.begin(waiting.shift());
      }
    }
    const mayBegin = ({ kind }: Waiting): boolean => this.deadline.inProgress < MOST_IN_PROGRESS[kind];
    while (this.#size === 0 && this.#resting[0] !== undefined && mayBegin(this.#resting[0])) {
      this.begin(this.#resting.shift());
    }
  }

  /** Unless its caller has gone. */
  private begin(entry: Waiting | undefined): void {
    if (entry === undefined || entry.response.destroyed) return;
    this.#waitedMs.set(entry.request, Math.max(0, performance.now() - entry.untilMs + MAX_WAIT_MS));
    entry.begin();
  }

  private sweepLater(): void {
    if (this.#timer !== undefined || (this.#size === 0 && this.#resting.length === 0)) return;
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
      const kept = waiting.findIndex(({ untilMs }) => untilMs > nowMs);
      const expired = waiting.splice(0, kept < 0 ? waiting.length : kept);
      this.#size -= expired.length;
      for (const entry of expired) this.refuse(entry);
    }
    const rested = this.#resting.filter(({ untilMs }) => untilMs <= nowMs);
    if (rested.length === 0) return;
    this.#resting = this.#resting.filter(({ untilMs }) => untilMs > nowMs);
    for (const entry of rested) this.enqueue({ ...entry, untilMs: nowMs + MAX_WAIT_MS });
  }

  private refuse({ kind, request, response }: Waiting): void {
    if (response.destroyed) return;
    this.#refused.inc({ class: kind });
    this.#restsUntilMs.set(request.socket, performance.now() + RETRY_AFTER_SECONDS * 1_000);
    this.responses.refuseUnread(request, response);
  }
}
