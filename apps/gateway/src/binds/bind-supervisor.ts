import { setTimeout as delay } from 'node:timers/promises';
import { bindPassword, type Bind } from '@countersign/carriers/config';
import type { BindLease, ConnectionState, ConnectionStatus } from '@countersign/carriers/leases';
import type { ServerKeys } from '@countersign/keys';
import type { DatabaseClock } from '@countersign/postgres';
import { NotSentError, SmppLink, type MessageAnswer } from '@countersign/smpp/link';
import {
  STATUS,
  statusName,
  type MessagePdu,
  type Outgoing,
  type Pdu,
  type ResponsePdu,
  type SubmitSm,
} from '@countersign/smpp/pdu';
import type { InboundLink } from '../links/inbound-link.js';
import type { LeasedConnection } from '../leases/lease-renewer.js';
import type { LeaseGuard } from '../leases/lease-guard.js';
import type { LinkView } from '../metrics/link.metrics.js';
import type { FlightRecorder } from '../recorder/flight-recorder.js';
import { linkEndsOf } from '../recorder/link-ends.js';
import { afterAttempt, freshCourse, type AttemptEnd, type Course } from './backoff.js';
import { bindCallOf, isSameConnection, linkOptionsOf } from './bind-options.js';
import { connect } from './connect.js';
import { ConnectionGauge } from '../metrics/connection-gauge.js';

/** Name look-up, connection and TLS handshake together. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Why a state was entered and what comes next; nothing secret. */
export interface BindNote {
  readonly host?: string;
  readonly reason?: string;
  readonly retryInMs?: number;
}

/** A way to send by a connection that is bound now. */
export interface BindSender {
  readonly bind: Bind;
  /** What is written for a message that goes this way names this. */
  readonly lease: BindLease;
  /** Our requests that are unanswered. */
  readonly windowUsed: number;
  /** Rejects as `SmppLink.request`: with NotSentError when it was not sent, also for want of the lease; else its fate is unknown. */
  submit(pdu: Outgoing<SubmitSm>): Promise<ResponsePdu>;
}

export interface SupervisorOptions {
  readonly keys: ServerKeys;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly recorder: Pick<FlightRecorder, 'tap'>;
  onMessage(pdu: MessagePdu, link: InboundLink): Promise<MessageAnswer> | MessageAnswer;
  /** Every PDU, its secrets in clear; the time is the monotonic clock's. */
  onPdu(bind: Bind, direction: 'in' | 'out', pdu: Pdu, nowMs: number): void;
  /** Told of every state that the connection enters. */
  onState(bind: Bind, to: ConnectionState, note: BindNote): void;
}

/**
 * Keeps one connection of a bind of ours bound under a lease: its hosts in turn, with backoff and standoff, until it is
 * stopped or fenced. Nothing is said, taken or stored once the lease is not held.
 */
export class BindSupervisor implements LeasedConnection {
  #bind: Bind;
  #inbound: InboundLink;
  #course: Course;
  #link: SmppLink | null = null;
  /** By the monotonic clock; null unless it is bound. */
  #boundAtMs: number | null = null;
  #stopping = false;
  /** Aborted to end the present attempt or wait at once; each attempt has its own. */
  #turn = new AbortController();
  readonly #gauge: ConnectionGauge;
  readonly #ended: Promise<void>;

  constructor(
    readonly guard: LeaseGuard,
    bind: Bind,
    private readonly o: SupervisorOptions,
  ) {
    this.#bind = bind;
    this.#inbound = { ...bind, peer: bind.name, lease: guard.lease };
    this.#course = freshCourse(guard.lease.slot, bind.hosts.length);
    this.#gauge = new ConnectionGauge(performance.now(), this.now());
    this.#ended = this.supervise();
  }

  get state(): ConnectionState {
    return this.#gauge.state;
  }

  status(): ConnectionStatus {
    return this.#gauge.read(performance.now(), this.#link);
  }

  view(): LinkView {
    const boundMs = this.#boundAtMs === null ? null : performance.now() - this.#boundAtMs;
    const { name: peer, sendWindow: window } = this.#bind;
    return { peer, state: this.state, windowUsed: this.#link?.windowUsed ?? 0, window, boundMs };
  }

  /** Null unless it is bound, may send and holds its lease. */
  get sender(): BindSender | null {
    const link = this.#link;
    if (this.state !== 'bound' || link === null || this.#bind.bindType === 'receiver') return null;
    if (!this.holdsLease()) return null;
    const { windowUsed } = link;
    return { bind: this.#bind, lease: this.guard.lease, windowUsed, submit: (pdu) => this.submit(link, pdu) };
  }

  /** Takes the row on as it is now. The link is made anew only where it would be another connection. */
  async adopt(bind: Bind, drainMs: number): Promise<void> {
    const before = this.#bind;
    this.#bind = bind;
    this.#inbound = { ...bind, peer: bind.name, lease: this.guard.lease };
    if (isSameConnection(before, bind)) {
      if (before.sendWindow !== bind.sendWindow) this.#link?.setWindow(bind.sendWindow);
      return;
    }
    this.#course = freshCourse(this.guard.lease.slot, bind.hosts.length);
    await this.cut(drainMs);
  }

  /** Makes no further attempt; a link that is bound stays until it ends. */
  stopReconnecting(): void {
    this.#stopping = true;
    if (this.state !== 'bound') this.#turn.abort();
  }

  /** Finishes the window, answers what came in, unbinds within that time, and does not come back. */
  async stop(drainMs: number): Promise<void> {
    this.#stopping = true;
    await this.cut(drainMs);
    await this.#ended;
  }

  /** The lease is lost: another gateway may act by now, so the socket goes at once and nothing follows. */
  fence(reason: string): void {
    this.#stopping = true;
    this.#turn.abort();
    this.#link?.destroy(reason);
  }

  private holdsLease(): boolean {
    return this.guard.holds(performance.now());
  }

  /** The last look at the lease before the octets leave. Those that wait for a slot are looked at with the answer that frees it. */
  private submit(link: SmppLink, pdu: Outgoing<SubmitSm>): Promise<ResponsePdu> {
    if (this.holdsLease()) return link.request(pdu);
    this.fence('the lease is not held');
    return Promise.reject(new NotSentError('the lease is not held'));
  }

  /** What waited in the socket of a process that was paused is answered by nobody: the carrier sends it again. */
  private tap(direction: 'in' | 'out', pdu: Pdu): void {
    const nowMs = performance.now();
    if (direction === 'in' && !this.guard.holds(nowMs)) this.fence('the lease is not held');
    this.#gauge.count(direction, pdu, nowMs);
    this.o.onPdu(this.#bind, direction, pdu, nowMs);
  }

  /**
   * A process that was paused between a commit and its answer answers no more: what was stored is, and the carrier sends
   * it again to who holds the lease by now.
   */
  private async accept(pdu: MessagePdu): Promise<MessageAnswer> {
    if (!this.holdsLease()) return { status: this.#bind.retryableMoStatus };
    const answer = await this.o.onMessage(pdu, this.#inbound);
    if (!this.holdsLease()) this.fence('the lease is not held');
    return answer;
  }

  private async cut(drainMs: number): Promise<void> {
    // First, so that the end of the link is not taken for a loss.
    this.#turn.abort();
    if (this.state === 'draining') return;
    if (this.state === 'bound') {
      this.enter('draining', {});
      await this.#link?.unbind(drainMs).catch(() => undefined);
    }
    this.#link?.destroy('the bind was stopped or changed');
  }

  private async supervise(): Promise<void> {
    while (!this.isStopping()) {
      this.#turn = new AbortController();
      const { signal } = this.#turn;
      const { end, reason } = await this.attempt(signal);
      this.#link = null;
      this.#boundAtMs = null;
      if (signal.aborted || this.isStopping()) {
        this.enter('unbound', { reason });
        continue;
      }
      const next = afterAttempt(this.#course, end, this.#bind.hosts.length, Math.random());
      this.#course = next.course;
      this.#gauge.failed(reason);
      this.enter(next.standoff ? 'standoff' : 'unbound', { reason, retryInMs: next.waitMs });
      await delay(next.waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** One connection from its beginning to its end. */
  private async attempt(signal: AbortSignal): Promise<{ end: AttemptEnd; reason: string }> {
    const bind = this.#bind;
    const at = bind.hosts[this.#course.host % bind.hosts.length];
    if (at === undefined) return { end: { kind: 'unreachable' }, reason: 'the bind has no host' };
    const host = `${at.host}:${at.port}`;
    try {
      // First of all: a password that cannot be opened is no reason to knock.
      const password = bindPassword(this.o.keys, bind);
      this.enter('connecting', { host });
      const socket = await connect(at, bind.tls, CONNECT_TIMEOUT_MS, signal);
      if (signal.aborted || !this.holdsLease()) socket.destroy();
      const link = new SmppLink(socket, {
        ...linkOptionsOf(bind),
        mayWrite: () => this.holdsLease(),
        onMessage: (pdu) => this.accept(pdu),
        retryableStatus: () => this.#bind.retryableMoStatus,
        onPdu: (direction, pdu) => this.tap(direction, pdu),
        onOctets: this.o.recorder.tap({
          ...this.guard.lease,
          ends: linkEndsOf(socket),
          fullUntil: () => this.#bind.fullTraceUntil,
        }),
      });
      this.#link = link;
      this.enter('binding', { host });
      const { status } = await link.bind(bindCallOf(bind, password));
      return await this.hold(link, status, host);
    } catch (error) {
      this.#link?.destroy('the bind failed');
      return { end: { kind: 'unreachable' }, reason: error instanceof Error ? error.message : 'failed' };
    }
  }

  /** From the answer to the bind until the link is over. */
  private async hold(link: SmppLink, status: number, host: string): Promise<{ end: AttemptEnd; reason: string }> {
    if (status !== STATUS.ESME_ROK) {
      link.destroy('the bind was refused');
      return { end: { kind: 'refused', status }, reason: `the bind was refused with ${statusName(status)}` };
    }
    const boundAtMs = performance.now();
    this.#boundAtMs = boundAtMs;
    // It may have changed while the carrier thought about the bind.
    link.setWindow(this.#bind.sendWindow);
    this.enter('bound', { host });
    const { reason } = await link.closed;
    return { end: { kind: 'lost', boundMs: performance.now() - boundAtMs }, reason };
  }

  private enter(state: ConnectionState, note: BindNote): void {
    this.#gauge.enter(state, this.now(), note.host);
    this.o.onState(this.#bind, state, note);
  }

  private now(): Date {
    return new Date(this.o.clock.nowMs());
  }

  private isStopping(): boolean {
    return this.#stopping;
  }
}
