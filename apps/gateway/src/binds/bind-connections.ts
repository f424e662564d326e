import { PubSub, TOPICS } from '@countersign/bus';
import type { Bind } from '@countersign/carriers/config';
import { slotKey, type BindLease, type BindSlotName } from '@countersign/carriers/leases';
import type { ConnectionEvent, ConnectionState } from '@countersign/carriers/status';
import { renderId, type Uuid } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';
import { throttled } from '@countersign/resilience';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import type { LeaseGuard } from '../leases/lease-guard.js';
import { LeaseRenewer } from '../leases/lease-renewer.js';
import { DRAIN_MS, OnStop } from '../composition/phases.js';
import { LinkMetrics } from '../links/link.metrics.js';
import type { AcceptedConnection } from './accepted-connection.js';
import type { BindListener, BindNote, BindSender, BindSupervisor } from './bind-supervisor.js';
import { BindSupervisorFactory } from './bind-supervisor.factory.js';

const UNANSWERED_REPORT_MS = 60_000;

const STATE_MESSAGES: Readonly<Record<ConnectionState, string>> = {
  connecting: 'binds: connecting to the carrier',
  binding: 'binds: connected; the bind request is sent',
  bound: 'binds: the carrier accepted the bind',
  draining: 'binds: finishing the window before the unbind',
  standoff: 'binds: the carrier refused the bind; waiting before the next attempt',
  unbound: 'binds: the connection has ended',
};

/** The log message of a state change. */
function messageOf(to: ConnectionState, { retryInMs }: BindNote): string {
  if (to === 'unbound' && retryInMs !== undefined) return 'binds: the connection failed; trying again';
  return STATE_MESSAGES[to];
}

/** The bind connections of this gateway: each is open while its lease is held and its row wants it. */
@Injectable()
export class BindConnections {
  readonly #supervisors = new Map<string, BindSupervisor>();
  /** All connections, including stopping ones, for metrics. */
  readonly #alive = new Set<BindSupervisor>();
  /** Stopping connections. A connection wanted again is claimed after its old link has ended. */
  readonly #stopping = new Map<string, Promise<void>>();
  readonly #boundListeners: (() => void)[] = [];
  readonly #releaseListeners: ((lease: BindLease) => Promise<void>)[] = [];
  readonly #endListeners: (() => void)[] = [];

  constructor(
    private readonly factory: BindSupervisorFactory,
    private readonly leases: LeaseRenewer,
    private readonly bus: PubSub,
    private readonly metrics: LinkMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    leases.onLeaseLost(({ guard }) => this.onLeaseLost(guard));
    metrics.setLinkSource('bind', () => [...this.#alive].map((supervisor) => supervisor.view()));
  }

  /** The connections of this bind that can send now; none when it is not bound at this gateway. */
  sendersOf(bindId: Uuid): BindSender[] {
    const senders: BindSender[] = [];
    for (const { guard, sender } of this.#supervisors.values()) {
      if (guard.lease.bindId === bindId && sender !== null) senders.push(sender);
    }
    return senders;
  }

  /** All connections that can send now. */
  senders(): BindSender[] {
    return [...this.#supervisors.values()].map(({ sender }) => sender).filter((sender) => sender !== null);
  }

  /** The sender of the connection held under this lease; null unless bound and able to send. */
  senderOfLease(lease: BindLease): BindSender | null {
    const sender = this.senderOfSlot(lease);
    return sender?.link.epoch === lease.epoch ? sender : null;
  }

  /** The same for a slot, under whichever lease it is held now. */
  senderOfSlot(slot: BindSlotName): BindSender | null {
    return this.#supervisors.get(slotKey(slot))?.sender ?? null;
  }

  /** Whether the unbind of a connection has not ended. */
  get isAnyStopping(): boolean {
    return this.#stopping.size > 0;
  }

  /** Registers a listener called after every bind. Must not throw. */
  onBound(listener: () => void): void {
    this.#boundListeners.push(listener);
  }

  /** Registers a listener awaited between the end of a link and the release of its lease, to finish writes. Must not reject. */
  beforeRelease(listener: (lease: BindLease) => Promise<void>): void {
    this.#releaseListeners.push(listener);
  }

  /** Registers a listener called after the end of every connection, and after the release of its lease. Must not throw. */
  onEnded(listener: () => void): void {
    this.#endListeners.push(listener);
  }

  /** `events`: what happened to the connection before. */
  openConnection(guard: LeaseGuard, bind: Bind, events: readonly ConnectionEvent[]): BindSupervisor {
    return this.open(guard, bind, events, null);
  }

  /** Binds over a connection that the carrier has opened. Its lease is released when it ends. */
  openAccepted(
    guard: LeaseGuard,
    bind: Bind,
    events: readonly ConnectionEvent[],
    accepted: AcceptedConnection,
  ): BindSupervisor {
    const supervisor = this.open(guard, bind, events, accepted);
    const key = slotKey(guard.lease);
    void supervisor.ended.then(() => {
      if (this.#supervisors.get(key) === supervisor) this.stopConnection(key, supervisor);
    });
    return supervisor;
  }

  /** Applies the rows of the enabled binds to all connections, draining ones too; stops those that are no longer wanted. */
  applyRows(wanted: ReadonlyMap<Uuid, Bind>): void {
    this.metrics.setWantedConnections(wanted.values());
    for (const supervisor of this.#alive) {
      const { lease } = supervisor.guard;
      const bind = wanted.get(lease.bindId);
      const isStopping = this.#supervisors.get(slotKey(lease)) !== supervisor;
      const isWanted =
        bind !== undefined && lease.slot < bind.connections && supervisor.isAccepted === (bind.outbind !== null);
      if (isWanted && !isStopping) {
        void supervisor.applyRow(bind, DRAIN_MS);
        continue;
      }
      supervisor.adoptRow(bind);
      if (!isStopping) this.stopConnection(slotKey(lease), supervisor);
    }
  }

  /** Stops the connection of this slot and releases its lease; false when there is none. */
  handOver(slot: BindSlotName): boolean {
    const key = slotKey(slot);
    const supervisor = this.#supervisors.get(key);
    if (supervisor !== undefined) this.stopConnection(key, supervisor);
    return supervisor !== undefined;
  }

  /** From now on makes no attempt; bound links stay. */
  @OnStop('stop reconnecting')
  stopReconnecting(): void {
    for (const supervisor of this.#supervisors.values()) supervisor.stopReconnecting();
  }

  /**
   * Finishes the windows, answers received messages, unbinds and closes every link within the time limit. The lease of each
   * connection is released, and other gateways are notified, as soon as the link has ended and its writes are done.
   */
  @OnStop('unbind')
  async unbindAll(): Promise<void> {
    for (const [key, supervisor] of this.#supervisors) this.stopConnection(key, supervisor);
    await Promise.all(this.#stopping.values());
  }

  private open(
    guard: LeaseGuard,
    bind: Bind,
    events: readonly ConnectionEvent[],
    accepted: AcceptedConnection | null,
  ): BindSupervisor {
    const supervisor = this.factory.createSupervisor(guard, bind, events, accepted);
    supervisor.start(this.listener());
    this.#supervisors.set(slotKey(guard.lease), supervisor);
    this.#alive.add(supervisor);
    return supervisor;
  }

  private stopConnection(key: string, supervisor: BindSupervisor): void {
    this.#supervisors.delete(key);
    const stopped = this.stopAndRelease(supervisor).finally(() => {
      this.#stopping.delete(key);
      this.bus.publish(TOPICS.binds);
      this.reportEnd();
    });
    this.#stopping.set(key, stopped);
  }

  private async stopAndRelease(supervisor: BindSupervisor): Promise<void> {
    await supervisor.stop(DRAIN_MS);
    this.#alive.delete(supervisor);
    await Promise.all(this.#releaseListeners.map((listener) => listener(supervisor.guard.lease)));
    await this.leases
      .releaseLease(supervisor)
      .catch((error: unknown) =>
        this.logger.debug({ err: error }, 'binds: lease could not be released; it will expire'),
      );
  }

  /** Removes a connection that was fenced because its lease was lost. */
  private onLeaseLost({ lease }: LeaseGuard): void {
    const key = slotKey(lease);
    const supervisor = this.#supervisors.get(key);
    if (supervisor?.guard.lease.epoch !== lease.epoch) return;
    this.#supervisors.delete(key);
    this.logger.warn({ bindId: renderId('bind', lease.bindId), slot: lease.slot }, 'binds: lease of a connection lost');
    const stopped = supervisor.stop(0).finally(() => {
      this.#stopping.delete(key);
      this.#alive.delete(supervisor);
      this.reportEnd();
    });
    this.#stopping.set(key, stopped);
  }

  private reportEnd(): void {
    for (const listener of this.#endListeners) listener();
  }

  private onStateChange(bind: Bind, to: ConnectionState, note: BindNote): void {
    if (note.retryInMs !== undefined) this.metrics.reconnects.inc({ bind: this.metrics.peerLabel('bind', bind.name) });
    const hasFailed = note.retryInMs !== undefined || note.awaitsOutbind === true;
    const level = to === 'bound' ? 'info' : hasFailed ? 'warn' : 'debug';
    if (to === 'bound') for (const listener of this.#boundListeners) listener();
    this.leases.trigger();
    this.bus.publish(TOPICS.bindStatus, { bindId: bind.id });
    this.logger[level]({ bind: bind.name, carrier: bind.carrier, state: to, ...note }, messageOf(to, note));
  }

  /** Unanswered codes are logged once a minute for each connection: a mute carrier leaves all of its window unanswered. */
  private listener(): BindListener {
    let unanswered = 0;
    let bind: Bind | null = null;
    const report = throttled((err) => {
      const about = { bind: bind?.name, carrier: bind?.carrier, unanswered, err };
      this.logger.warn(about, 'binds: codes got no response from the carrier; each is sent once more');
      unanswered = 0;
    }, UNANSWERED_REPORT_MS);
    return {
      onState: (...change) => this.onStateChange(...change),
      onUnanswered: (of, error) => {
        unanswered += 1;
        bind = of;
        report(error);
      },
    };
  }
}
