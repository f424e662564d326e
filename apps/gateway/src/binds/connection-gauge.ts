import type { ConnectionEvent, ConnectionState, ConnectionStatus, PreviousError } from '@countersign/carriers/status';
import type { Uuid } from '@countersign/ids';
import type { DatabaseClock } from '@countersign/postgres';
import type { SmppLink } from '@countersign/smpp/link';
import type { Pdu } from '@countersign/smpp/pdu';
import { ConnectionHistory } from '../leases/connection-history.js';
import { LastError, type TimedError } from '../links/last-error.js';
import type { LinkMeter } from '../links/link-meter.js';
import { ThroughputMeter } from '../links/throughput-meter.js';
import { isThrottle } from '../links/throttle.js';

/** The events of a connection before, and the gateway that holds it now. */
interface EarlierEvents {
  readonly events: readonly ConnectionEvent[];
  readonly gatewayId: Uuid;
}

/** The status of one connection as the Admin API shows it (contract, Admin), and its metrics. */
export class ConnectionGauge {
  readonly history: ConnectionHistory;
  readonly #submits: ThroughputMeter;
  readonly #delivers: ThroughputMeter;
  #state: ConnectionState = 'unbound';
  #host: string | null = null;
  #since: string;
  #throttled = 0;
  #reconnects = 0;
  #unanswered = 0;
  #lastError: TimedError | null = null;
  #previousError: PreviousError | null = null;
  /** Errors of the present link while it is bound. */
  #linkErrors: LastError;

  constructor(
    private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    private readonly meter: Pick<LinkMeter, 'setPeer' | 'countPdu'>,
    { events, gatewayId }: EarlierEvents,
  ) {
    const nowMs = performance.now();
    this.#submits = new ThroughputMeter(nowMs);
    this.#delivers = new ThroughputMeter(nowMs);
    this.#since = this.now();
    this.#linkErrors = new LastError(() => this.now());
    this.history = new ConnectionHistory(events, gatewayId, () => this.now());
  }

  get state(): ConnectionState {
    return this.#state;
  }

  setState(state: ConnectionState, host?: string): void {
    this.#state = state;
    this.#since = this.now();
    if (host !== undefined) this.#host = host;
    if (state === 'bound') this.startSession();
    if (state === 'bound' || state === 'draining') this.history.add(state, this.#host, null);
    if (state === 'unbound') this.history.addEnd(this.#host);
  }

  /** An attempt or a link has failed, and another attempt follows. */
  recordFailure(reason: string): void {
    this.#reconnects += 1;
    this.setLastError(reason);
    this.history.add('error', this.#host, reason);
  }

  /** An attempt has failed that the present link does not depend on. */
  recordError(reason: string): void {
    this.setLastError(reason);
    this.history.add('error', null, reason);
  }

  /** A code was written, and no response arrived in time. */
  countUnanswered(): void {
    this.#unanswered += 1;
  }

  /** `peer`: name of the bind, which may change. `nowMs` of the monotonic clock. */
  countPdu(peer: string, direction: 'in' | 'out', pdu: Pdu, nowMs: number): void {
    this.countStatus(direction, pdu, nowMs);
    this.meter.setPeer(peer);
    this.meter.countPdu(direction, pdu, nowMs);
  }

  snapshot(
    nowMs: number,
    link: Pick<SmppLink, 'windowUsed' | 'enquireLinkRttMs' | 'lastError'> | null,
  ): ConnectionStatus {
    const rttMs = link?.enquireLinkRttMs ?? null;
    const error = this.#linkErrors.seen(link?.lastError ?? null) ?? this.#lastError;
    return {
      host: this.#host,
      state: this.#state,
      since: this.#since,
      windowUsed: link?.windowUsed ?? 0,
      submitPerSecond: this.#submits.perSecond(nowMs),
      deliverPerSecond: this.#delivers.perSecond(nowMs),
      throttled: this.#throttled,
      enquireLinkMs: rttMs === null ? null : Math.round(rttMs),
      reconnects: this.#reconnects,
      lastError: error?.error ?? null,
      lastErrorAt: error?.at ?? null,
      previousError: this.#previousError,
      unanswered: this.#unanswered,
    };
  }

  /** The connection is healthy: its counters begin anew, and the error before is over. */
  private startSession(): void {
    this.#throttled = 0;
    this.#unanswered = 0;
    if (this.#lastError !== null) this.#previousError = { ...this.#lastError, clearedAt: this.now() };
    this.#lastError = null;
    this.#linkErrors = new LastError(() => this.now());
  }

  private setLastError(error: string): void {
    this.#lastError = { error, at: this.now() };
  }

  private countStatus(direction: 'in' | 'out', pdu: Pdu, nowMs: number): void {
    const { command } = pdu;
    if (direction === 'out') {
      if (command === 'submit_sm') this.#submits.count(nowMs);
    } else if (command === 'submit_sm_resp') {
      if (isThrottle(pdu)) this.#throttled += 1;
    } else if (command === 'deliver_sm' || command === 'data_sm') {
      this.#delivers.count(nowMs);
    }
  }

  private now(): string {
    return new Date(this.clock.nowMs()).toISOString();
  }
}
