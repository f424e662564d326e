import { MODES } from '@countersign/keys';
import type { CodeCheck, ExpiredCounts, SessionBatch } from '@countersign/session';
import { Metrics } from '@countersign/telemetry';
import type { OfferResult } from '@countersign/rcs/offers';
import { Injectable } from '@nestjs/common';
import type { AnsweredRequest } from './answered-request.js';

/** Outcome of a create's card: delivered (`rcs`), or the reason why it was not sent or not delivered. */
export type CardEnd =
  'rcs' | Extract<OfferResult, { kind: 'refused' }>['because'] | 'not_taken' | 'not_sent' | 'not_delivered' | 'failed';

const BATCH_COMMANDS = {
  name: 'batch_commands',
  help: 'Number of commands that shared a transaction.',
  labels: ['batch'],
  buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 500],
} as const;
const EVENTS_REFUSED = {
  name: 'events_refused_total',
  help: 'Events that were not sent because they contradict their session or account, by fault.',
  labels: ['fault'],
} as const;
const VALUES_UNOPENED = {
  name: 'sealed_values_unopened_total',
  help: 'Stored values that did not open with a listed version of the master key, counted in each pass over all values.',
} as const;
const CREATE_ROUTE = '/v1/verify';

/** The metrics of the control plane. Labels have few values: no phone, id, address or value that callers can choose. */
@Injectable()
export class ControlPlaneMetrics {
  readonly deliveryAttempts;
  readonly deliverySeconds;
  readonly #codesRefused;
  readonly #eventsRefused;
  readonly #realtimeClosed;
  readonly #sealedValuesRenewed;
  readonly #sealedValuesUnopened;
  readonly #expired;
  readonly #checks;
  readonly #cards;
  readonly #cardSeconds;
  readonly #batches;
  readonly #requests;
  readonly #createSeconds;
  /** Cached counters of answers, because every request increments one. */
  readonly #answerCounters = new Map<string, { inc(): void }>();

  constructor(private readonly metrics: Metrics) {
    this.#requests = metrics.counter({
      name: 'http_requests_total',
      help: 'Answered requests, by route pattern and mode of the key.',
      labels: ['method', 'route', 'status', 'mode'],
    });
    this.#createSeconds = metrics.histogram({
      name: 'create_seconds',
      help: 'Seconds from the first octet of a successful create to its answer, without the wait for its card.',
      labels: ['mode'],
    });
    this.#expired = metrics.counter({
      name: 'sessions_expired_total',
      help: 'Sessions that the sweeper marked as expired.',
      labels: ['mode'],
    });
    this.deliveryAttempts = metrics.counter({
      name: 'webhook_attempts_total',
      help: 'Recorded webhook attempts, by the resulting state of the delivery.',
      labels: ['outcome', 'mode'],
    });
    this.deliverySeconds = metrics.histogram({
      name: 'webhook_seconds',
      help: 'Seconds that webhook receivers took to answer.',
      labels: ['mode'],
    });
    this.#eventsRefused = metrics.counter(EVENTS_REFUSED);
    this.#codesRefused = metrics.counter({
      name: 'otp_refused_total',
      help: 'Codes that the toll-fraud guard refused, by rule.',
      labels: ['rule'],
    });
    this.#checks = metrics.counter({
      name: 'otp_checks_total',
      help: 'Checks of codes of live sessions, by result: approved, wrong, or too_many after the last attempt.',
      labels: ['result'],
    });
    this.#realtimeClosed = metrics.counter({
      name: 'realtime_closed_total',
      help: 'Closed WebSockets, by close code.',
      labels: ['code'],
    });
    this.#sealedValuesRenewed = metrics.counter({
      name: 'sealed_values_renewed_total',
      help: 'Stored values that were resealed with the current version of the master key.',
    });
    this.#sealedValuesUnopened = metrics.counter(VALUES_UNOPENED);
    this.#cards = metrics.counter({
      name: 'cards_decided_total',
      help: 'Creates with a card, by outcome: rcs if the card arrived, else the reason.',
      labels: ['end'],
    });
    this.#cardSeconds = metrics.histogram({
      name: 'card_decision_seconds',
      help: 'Seconds until creates knew whether their cards had arrived.',
      labels: ['end'],
    });
    this.#batches = metrics.histogram(BATCH_COMMANDS);
  }

  /** Registers a gauge whose value is read at each scrape. */
  watch(name: string, help: string, read: () => number | Promise<number>): void {
    this.metrics.gauge({ name, help, read });
  }

  countBatch(batch: SessionBatch | 'delivery', size: number): void {
    this.#batches.observe({ batch }, size);
  }

  countExpired(counts: ExpiredCounts): void {
    for (const mode of MODES) this.#expired.inc({ mode }, counts[mode]);
  }

  countChecks(checks: readonly CodeCheck[]): void {
    for (const { result } of checks) this.#checks.inc({ result });
  }

  countRefusedEvent(fault: string): void {
    this.#eventsRefused.inc({ fault });
  }

  countRefusedCode(rule: string): void {
    this.#codesRefused.inc({ rule });
  }

  countClosedConnection(code: string): void {
    this.#realtimeClosed.inc({ code });
  }

  countRenewedValues(count: number): void {
    this.#sealedValuesRenewed.inc(count);
  }

  countUnopenedValue(): void {
    this.#sealedValuesUnopened.inc();
  }

  countCard(end: CardEnd, tookMs: number): void {
    this.#cards.inc({ end });
    this.#cardSeconds.observe({ end }, tookMs / 1000);
  }

  countAnswer({ method, route, status, mode, elapsedMs }: AnsweredRequest): void {
    const key = `${method} ${route} ${status} ${mode}`;
    let counter = this.#answerCounters.get(key);
    if (counter === undefined) {
      counter = this.#requests.labels({ method: route === 'none' ? 'any' : method, route, status, mode });
      this.#answerCounters.set(key, counter);
    }
    counter.inc();
    if (route === CREATE_ROUTE && status === 200) this.#createSeconds.observe({ mode }, elapsedMs / 1000);
  }
}
