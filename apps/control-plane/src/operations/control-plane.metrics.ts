import { MODES } from '@countersign/keys';
import type { CodeCheck, ExpiredCounts, SessionBatch } from '@countersign/session';
import type { Metrics } from '@countersign/telemetry';
import type { OfferResult } from '@countersign/rcs/offers';
import type { AnsweredRequest } from '../http/server.js';

/** Outcome of a create's card: delivered (`rcs`), refused before sending, or why it was not delivered. */
export type CardEnd =
  'rcs' | Extract<OfferResult, { kind: 'refused' }>['because'] | 'not_taken' | 'not_sent' | 'not_delivered' | 'failed';

const BATCH_COMMANDS = {
  name: 'batch_commands',
  help: 'Commands that shared a transaction.',
  labels: ['batch'],
  buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 500],
} as const;
const CREATE_ROUTE = '/v1/verify';

/** What the control plane counts. Labels take few values: no phone, no id, no address, nothing a caller may choose. */
export class ControlPlaneMetrics {
  readonly deliveryAttempts;
  readonly deliverySeconds;
  readonly codesRefused;
  readonly realtimeClosed;
  readonly sealedValuesRenewed;
  readonly #expired;
  readonly #checks;
  readonly #cards;
  readonly #cardSeconds;
  readonly #batches;
  readonly #requests;
  readonly #createSeconds;
  /** The counters of answers that have been seen, looked up once and kept: this is on the way of every request. */
  readonly #counts = new Map<string, { inc(): void }>();

  constructor(private readonly metrics: Metrics) {
    this.#requests = metrics.counter({
      name: 'http_requests_total',
      help: 'Answered requests, by the pattern of their route and the mode of their key.',
      labels: ['method', 'route', 'status', 'mode'],
    });
    this.#createSeconds = metrics.histogram({
      name: 'create_seconds',
      help: 'From the first octet of a create to its answer, when it succeeded; the wait for its card is not counted.',
      labels: ['mode'],
    });
    this.#expired = metrics.counter({
      name: 'sessions_expired_total',
      help: 'Sessions that the sweeper marked as expired.',
      labels: ['mode'],
    });
    this.deliveryAttempts = metrics.counter({
      name: 'webhook_attempts_total',
      help: 'Recorded webhook attempts, by what the delivery became.',
      labels: ['outcome', 'mode'],
    });
    this.deliverySeconds = metrics.histogram({
      name: 'webhook_seconds',
      help: 'How long receivers took to answer.',
      labels: ['mode'],
    });
    this.codesRefused = metrics.counter({
      name: 'otp_refused_total',
      help: 'Codes that the toll-fraud guard did not send, by its rule.',
      labels: ['rule'],
    });
    this.#checks = metrics.counter({
      name: 'otp_checks_total',
      help: 'Checks of codes of live sessions, by result: approved, wrong, or too_many after the last attempt.',
      labels: ['result'],
    });
    this.realtimeClosed = metrics.counter({
      name: 'realtime_closed_total',
      help: 'WebSockets that have ended, by their close code.',
      labels: ['code'],
    });
    this.sealedValuesRenewed = metrics.counter({
      name: 'sealed_values_renewed_total',
      help: 'Stored values that were sealed again with the current version of the master key.',
    });
    this.#cards = metrics.counter({
      name: 'cards_decided_total',
      help: 'Creates that wanted a card: rcs where it arrived, else why it did not.',
      labels: ['end'],
    });
    this.#cardSeconds = metrics.histogram({
      name: 'card_decision_seconds',
      help: 'How long creates took to know whether their cards had arrived.',
      labels: ['end'],
    });
    this.#batches = metrics.histogram(BATCH_COMMANDS);
  }

  /** A value that is read when the metrics are asked for. */
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

  countCard(end: CardEnd, tookMs: number): void {
    this.#cards.inc({ end });
    this.#cardSeconds.observe({ end }, tookMs / 1000);
  }

  countAnswer({ method, route, status, mode, elapsedMs }: AnsweredRequest): void {
    const key = `${method} ${route} ${status} ${mode}`;
    let count = this.#counts.get(key);
    if (count === undefined) {
      count = this.#requests.labels({ method: route === 'none' ? 'any' : method, route, status, mode });
      this.#counts.set(key, count);
    }
    count.inc();
    if (route === CREATE_ROUTE && status === 200) this.#createSeconds.observe({ mode }, elapsedMs / 1000);
  }
}
