import { TOPICS, type PubSub, type Subscription } from '@countersign/bus';
import type { Bind, CarrierDirectory } from '@countersign/carriers/config';
import {
  slotKey,
  type BindLease,
  type BindSlotName,
  type ConnectionState,
  type LeaseSurvey,
} from '@countersign/carriers/leases';
import type { ServerKeys } from '@countersign/keys';
import { renderId, type Uuid } from '@countersign/ids';
import type { DatabaseClock } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';
import type { GatewayMetrics } from '../metrics/gateway.metrics.js';
import type { InboundService } from '../inbound/inbound.service.js';
import { freeSlots, slotsToClaim, slotToHandOver } from '../leases/fair-share.js';
import type { LeaseGuard } from '../leases/lease-guard.js';
import type { LeaseRenewer } from '../leases/lease-renewer.js';
import type { FlightRecorder } from '../recorder/flight-recorder.js';
import { BindSupervisor, type BindNote, type BindSender } from './bind-supervisor.js';

/** Interval at which rows are read; a changed row takes effect within it (contract, Admin). */
export const RECONCILE_MS = 2_000;
/** A connection free for longer than one reconcile interval of every gateway may be claimed beyond the share. */
const UNCLAIMED_MS = 2_500;
/** Time limit for a link that is no longer wanted to finish its window and answer received messages. */
const DRAIN_MS = 10_000;
/** Minimum time between hand-overs, since each interrupts one connection. */
const HAND_OVER_EVERY_MS = 10_000;
/** Added to the remaining time of a lease, so that its row is read after the expiry. */
const EXPIRY_SLACK_MS = 50;

export interface BindsOptions {
  readonly carriers: CarrierDirectory;
  readonly leases: LeaseRenewer;
  readonly inbound: InboundService;
  readonly keys: ServerKeys;
  readonly clock: DatabaseClock;
  readonly bus: PubSub;
  readonly recorder: FlightRecorder;
  /** Id of this gateway. */
  readonly self: Uuid;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
}

/**
 * Reconciles binds with their rows: one gateway claims and binds each wanted connection, changed connections reconnect,
 * connections of removed and disabled binds unbind. While the rows cannot be read, connections stay for as long as their
 * leases last.
 */
export class BindsService {
  readonly #supervisors = new Map<string, BindSupervisor>();
  /** All connections, including stopping ones, for metrics. */
  readonly #alive = new Set<BindSupervisor>();
  /** Stopping connections. A connection wanted again is claimed after its old link has ended. */
  readonly #stoppingConnections = new Map<string, Promise<void>>();
  readonly #boundListeners: (() => void)[] = [];
  readonly #releaseListeners: ((lease: BindLease) => Promise<void>)[] = [];
  /** Time at which each free connection was first seen free, on the monotonic clock. */
  #freeSince: ReadonlyMap<string, number> = new Map();
  #handedOverMs = -Infinity;
  #mayClaim = true;
  #pollLoop: PollLoop | undefined;
  #subscription: Subscription | undefined;
  #expiryTimer: NodeJS.Timeout | undefined;

  constructor(private readonly o: BindsOptions) {
    o.leases.onLeaseLost(({ guard }) => this.onLeaseLost(guard));
    o.metrics.links.setLinkSource('bind', () => [...this.#alive].map((supervisor) => supervisor.view()));
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
    return sender?.lease.epoch === lease.epoch ? sender : null;
  }

  /** The same for a slot, under whichever lease it is held now. */
  senderOfSlot(slot: BindSlotName): BindSender | null {
    return this.#supervisors.get(slotKey(slot))?.sender ?? null;
  }

  /** Registers a listener called after every bind. Must not throw. */
  onBound(listener: () => void): void {
    this.#boundListeners.push(listener);
  }

  /** Registers a listener awaited between the end of a link and the release of its lease, to finish writes. Must not reject. */
  beforeRelease(listener: (lease: BindLease) => Promise<void>): void {
    this.#releaseListeners.push(listener);
  }

  /** Reconciles at once, then every 2 s and after every notification on the bus. */
  start(): void {
    this.#pollLoop = new PollLoop({
      everyMs: RECONCILE_MS,
      work: () => this.reconcile(),
      onError: (error) => this.o.logger.warn({ err: error }, 'binds: rows could not be read; retrying'),
    });
    this.#subscription = this.o.bus.subscribe(TOPICS.binds, () => this.#pollLoop?.trigger());
    this.#pollLoop.trigger();
  }

  /** From now on claims no connection, makes no attempt and applies no row; bound links stay. */
  async stopReconnecting(): Promise<void> {
    this.#mayClaim = false;
    this.#subscription?.close();
    clearTimeout(this.#expiryTimer);
    for (const supervisor of this.#supervisors.values()) supervisor.stopReconnecting();
    // Best effort: without the database other gateways cannot read the row either.
    const announced = this.o.leases
      .announceStop()
      .catch((error: unknown) => this.o.logger.debug({ err: error }, 'binds: stop could not be announced'));
    await Promise.all([this.#pollLoop?.stop(), announced]);
  }

  /**
   * Finishes the windows, answers received messages, unbinds and closes every link within the time limit. The lease of each
   * connection is released, and other gateways are notified, as soon as the link has ended and its writes are done.
   */
  async unbindAll(withinMs: number): Promise<void> {
    for (const [key, supervisor] of this.#supervisors) this.stopConnection(key, supervisor, withinMs);
    await Promise.all(this.#stoppingConnections.values());
  }

  private async reconcile(): Promise<boolean> {
    // In this order, so that every surveyed connection has its bind row in the second read.
    const survey = await this.o.leases.survey();
    const binds = await this.o.carriers.listBinds();
    const wanted = new Map(binds.filter(({ enabled }) => enabled).map((bind) => [bind.id, bind]));
    this.o.metrics.links.setWantedConnections(wanted.values());
    for (const [key, supervisor] of this.#supervisors) {
      const { bindId, slot } = supervisor.guard.lease;
      const bind = wanted.get(bindId);
      if (bind === undefined || slot >= bind.connections) this.stopConnection(key, supervisor);
      else void supervisor.applyRow(bind, DRAIN_MS);
    }
    if (!this.#mayClaim) return false;
    await this.claimConnections(survey, wanted);
    this.handOverOne(survey);
    this.scheduleExpiryCheck(survey);
    return false;
  }

  private async claimConnections(survey: LeaseSurvey, wanted: ReadonlyMap<Uuid, Bind>): Promise<void> {
    const facts = { self: this.o.self, survey, mine: this.o.leases.heldKeys };
    const nowMs = performance.now();
    const keys = freeSlots(facts).map(slotKey);
    this.#freeSince = new Map(keys.map((key) => [key, this.#freeSince.get(key) ?? nowMs]));
    const unclaimed = new Set(keys.filter((key) => nowMs - (this.#freeSince.get(key) ?? nowMs) >= UNCLAIMED_MS));
    const claims = slotsToClaim({ ...facts, unclaimed });
    if (claims.length === 0) return;
    await this.o.leases.claimLeases(claims, (guard) => {
      const bind = wanted.get(guard.lease.bindId);
      // Disabled or deleted since the survey: the lease is left to expire.
      return bind === undefined ? null : this.openConnection(guard, bind);
    });
  }

  /** Hands one connection over to a gateway below its share. */
  private handOverOne(survey: LeaseSurvey): void {
    const nowMs = performance.now();
    if (nowMs - this.#handedOverMs < HAND_OVER_EVERY_MS || this.#stoppingConnections.size > 0) return;
    const slot = slotToHandOver({ self: this.o.self, survey, mine: this.o.leases.heldKeys });
    if (slot === null) return;
    const supervisor = this.#supervisors.get(slotKey(slot));
    if (supervisor === undefined) return;
    this.#handedOverMs = nowMs;
    this.stopConnection(slotKey(slot), supervisor);
  }

  /** Reconciles when the next lease of another gateway expires: a crashed gateway does not release its leases. */
  private scheduleExpiryCheck(survey: LeaseSurvey): void {
    clearTimeout(this.#expiryTimer);
    const others = survey.slots.flatMap(({ owner, leftMs }) =>
      owner === null || owner === this.o.self || leftMs === null ? [] : [leftMs],
    );
    const nextMs = Math.min(...others);
    if (nextMs > RECONCILE_MS) return;
    this.#expiryTimer = setTimeout(() => this.#pollLoop?.trigger(), nextMs + EXPIRY_SLACK_MS);
    this.#expiryTimer.unref();
  }

  private stopConnection(key: string, supervisor: BindSupervisor, withinMs = DRAIN_MS): void {
    this.#supervisors.delete(key);
    const stopped = this.stopAndRelease(supervisor, withinMs).finally(() => {
      this.#stoppingConnections.delete(key);
      this.o.bus.publish(TOPICS.binds);
      this.#pollLoop?.trigger();
    });
    this.#stoppingConnections.set(key, stopped);
  }

  private async stopAndRelease(supervisor: BindSupervisor, withinMs: number): Promise<void> {
    await supervisor.stop(withinMs);
    this.#alive.delete(supervisor);
    await Promise.all(this.#releaseListeners.map((listener) => listener(supervisor.guard.lease)));
    await this.o.leases
      .releaseLease(supervisor)
      .catch((error: unknown) =>
        this.o.logger.debug({ err: error }, 'binds: lease could not be released; it will expire'),
      );
  }

  /** Removes a connection that was fenced because its lease was lost. */
  private onLeaseLost({ lease }: LeaseGuard): void {
    const key = slotKey(lease);
    const supervisor = this.#supervisors.get(key);
    if (supervisor?.guard.lease.epoch !== lease.epoch) return;
    this.#supervisors.delete(key);
    this.o.logger.warn(
      { bindId: renderId('bind', lease.bindId), slot: lease.slot },
      'binds: lease of a connection lost',
    );
    const stopped = supervisor.stop(0).finally(() => {
      this.#stoppingConnections.delete(key);
      this.#alive.delete(supervisor);
      this.#pollLoop?.trigger();
    });
    this.#stoppingConnections.set(key, stopped);
  }

  private openConnection(guard: LeaseGuard, bind: Bind): BindSupervisor {
    const meter = this.o.metrics.links.createMeter('bind', bind.name);
    const supervisor = new BindSupervisor(guard, bind, {
      keys: this.o.keys,
      clock: this.o.clock,
      recorder: this.o.recorder,
      onMessage: (pdu, link) => this.o.inbound.acceptMessage(pdu, link),
      onPdu: ({ name }, direction, pdu, nowMs) => {
        meter.setPeer(name);
        meter.countPdu(direction, pdu, nowMs);
      },
      onState: (...change) => this.onStateChange(...change),
    });
    this.#supervisors.set(slotKey(guard.lease), supervisor);
    this.#alive.add(supervisor);
    return supervisor;
  }

  private onStateChange(bind: Bind, to: ConnectionState, note: BindNote): void {
    const { metrics, logger, leases, bus } = this.o;
    if (note.retryInMs !== undefined)
      metrics.links.reconnects.inc({ bind: metrics.links.peerLabel('bind', bind.name) });
    const level = to === 'bound' ? 'info' : note.retryInMs === undefined ? 'debug' : 'warn';
    if (to === 'bound') for (const listener of this.#boundListeners) listener();
    leases.trigger();
    bus.publish(TOPICS.bindStatus, { bindId: bind.id });
    logger[level]({ bind: bind.name, carrier: bind.carrier, state: to, ...note }, 'bind state changed');
  }
}
