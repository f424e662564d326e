import type { PubSub, Subscription } from '@countersign/bus';
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
import { freeSlots, slotsToClaim, slotToGive } from '../leases/fair-share.js';
import type { LeaseGuard } from '../leases/lease-guard.js';
import type { LeaseRenewer } from '../leases/lease-renewer.js';
import type { FlightRecorder } from '../recorder/flight-recorder.js';
import { BindSupervisor, type BindNote, type BindSender } from './bind-supervisor.js';

/** A changed row is acted upon within this time (contract, Admin). */
export const RECONCILE_MS = 2_000;
/** What was free for longer than every gateway takes to look at the rows, nobody else wants. */
const LEFT_OVER_MS = 2_500;
/** What a link that is no longer wanted may take to finish its window and to answer what came in. */
const DRAIN_MS = 10_000;
/** A connection that is handed over is gone for a moment: never many at once. */
const GIVE_EVERY_MS = 10_000;
/** The row of a lease that ran out is looked at when it has, and not a moment before. */
const RUN_OUT_SLACK_MS = 50;

/** Rows of binds, or who holds their connections, have changed. */
export const BINDS_TOPIC = 'binds';
/** A connection of the bind that is named entered another state. */
export const BIND_STATUS_TOPIC = 'bind-status';

export interface BindsOptions {
  readonly carriers: CarrierDirectory;
  readonly leases: LeaseRenewer;
  readonly inbound: InboundService;
  readonly keys: ServerKeys;
  readonly clock: DatabaseClock;
  readonly bus: PubSub;
  readonly recorder: FlightRecorder;
  /** This gateway. */
  readonly self: Uuid;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
}

/**
 * Keeps the binds as their rows want them: every wanted connection is claimed by one gateway and bound, changed ones are
 * made anew, removed and disabled ones unbound. While the rows cannot be read everything stays as it is, for as long as
 * the leases last.
 */
export class BindsService {
  readonly #supervisors = new Map<string, BindSupervisor>();
  /** All of them, those on their way out too: what metrics show. */
  readonly #alive = new Set<BindSupervisor>();
  /** Connections on their way out; one that is wanted again waits for its old link to be gone. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #onBound: (() => void)[] = [];
  readonly #beforeRelease: ((lease: BindLease) => Promise<void>)[] = [];
  /** Since when connections have been seen to be free, by the monotonic clock. */
  #freeSince: ReadonlyMap<string, number> = new Map();
  #givenMs = -Infinity;
  #taking = true;
  #periodic: PollLoop | undefined;
  #subscription: Subscription | undefined;
  #runOut: NodeJS.Timeout | undefined;

  constructor(private readonly o: BindsOptions) {
    o.leases.onLost(({ guard }) => this.forget(guard));
    o.metrics.links.watch('bind', () => [...this.#alive].map((supervisor) => supervisor.view()));
  }

  /** The connections of this bind that may send now; none when it is not bound here. */
  sendersOf(bindId: Uuid): BindSender[] {
    const senders: BindSender[] = [];
    for (const { guard, sender } of this.#supervisors.values()) {
      if (guard.lease.bindId === bindId && sender !== null) senders.push(sender);
    }
    return senders;
  }

  /** All connections that may send now. */
  senders(): BindSender[] {
    return [...this.#supervisors.values()].map(({ sender }) => sender).filter((sender) => sender !== null);
  }

  /** To send by the connection that is held under this lease; null unless it is bound now and may send. */
  senderBy(lease: BindLease): BindSender | null {
    const sender = this.senderAt(lease);
    return sender?.lease.epoch === lease.epoch ? sender : null;
  }

  /** The same by whichever lease this connection is held now. */
  senderAt(slot: BindSlotName): BindSender | null {
    return this.#supervisors.get(slotKey(slot))?.sender ?? null;
  }

  /** Hears of every connection that has just been bound. Must not throw. */
  onBound(listener: () => void): void {
    this.#onBound.push(listener);
  }

  /** Is waited for between the end of a link and the release of its lease: what is yet to be written for it. Must not reject. */
  beforeRelease(listener: (lease: BindLease) => Promise<void>): void {
    this.#beforeRelease.push(listener);
  }

  /** Begins at once, and looks at the rows again every 2 s and whenever the bus says that they changed. */
  start(): void {
    this.#periodic = new PollLoop({
      everyMs: RECONCILE_MS,
      work: () => this.reconcile(),
      onError: (error) => this.o.logger.warn({ err: error }, 'the binds could not be read'),
    });
    this.#subscription = this.o.bus.subscribe(BINDS_TOPIC, () => this.#periodic?.trigger());
    this.#periodic.trigger();
  }

  /** No connection is taken, no attempt is made and no row acted upon from here on; bound links stay. */
  async stopReconnecting(): Promise<void> {
    this.#taking = false;
    this.#subscription?.close();
    clearTimeout(this.#runOut);
    for (const supervisor of this.#supervisors.values()) supervisor.stopReconnecting();
    // Without the database nobody counts gateways.
    const said = this.o.leases.stopTaking().catch((error: unknown) => this.o.logger.debug({ err: error }, 'leases'));
    await Promise.all([this.#periodic?.stop(), said]);
  }

  /**
   * Finishes the windows, answers what came in, unbinds and closes every link, within the time given. Each connection is
   * given back, and other gateways are told so, as soon as it is over and all is written.
   */
  async unbindAll(withinMs: number): Promise<void> {
    for (const [key, supervisor] of this.#supervisors) this.leave(key, supervisor, withinMs);
    await Promise.all(this.#leaving.values());
  }

  private async reconcile(): Promise<boolean> {
    // In this order: a bind that was made meanwhile has its row when its connections are claimed.
    const survey = await this.o.leases.survey();
    const binds = await this.o.carriers.listBinds();
    const wanted = new Map(binds.filter(({ enabled }) => enabled).map((bind) => [bind.id, bind]));
    this.o.metrics.links.want(wanted.values());
    for (const [key, supervisor] of this.#supervisors) {
      const { bindId, slot } = supervisor.guard.lease;
      const bind = wanted.get(bindId);
      if (bind === undefined || slot >= bind.connections) this.leave(key, supervisor);
      else void supervisor.adopt(bind, DRAIN_MS);
    }
    if (!this.#taking) return false;
    await this.claim(survey, wanted);
    this.giveOne(survey);
    this.awaitRunOut(survey);
    return false;
  }

  private async claim(survey: LeaseSurvey, wanted: ReadonlyMap<Uuid, Bind>): Promise<void> {
    const facts = { self: this.o.self, survey, mine: this.o.leases.held };
    const nowMs = performance.now();
    const keys = freeSlots(facts).map(slotKey);
    this.#freeSince = new Map(keys.map((key) => [key, this.#freeSince.get(key) ?? nowMs]));
    const leftOver = new Set(keys.filter((key) => nowMs - (this.#freeSince.get(key) ?? nowMs) >= LEFT_OVER_MS));
    const claims = slotsToClaim({ ...facts, leftOver });
    if (claims.length === 0) return;
    await this.o.leases.claim(claims, (guard) => {
      const bind = wanted.get(guard.lease.bindId);
      // Disabled or deleted since the first look: it is left to run out.
      return bind === undefined ? null : this.supervise(guard, bind);
    });
  }

  /** Lets another gateway come to its share, now and then one connection. */
  private giveOne(survey: LeaseSurvey): void {
    const nowMs = performance.now();
    if (nowMs - this.#givenMs < GIVE_EVERY_MS || this.#leaving.size > 0) return;
    const slot = slotToGive({ self: this.o.self, survey, mine: this.o.leases.held });
    if (slot === null) return;
    const supervisor = this.#supervisors.get(slotKey(slot));
    if (supervisor === undefined) return;
    this.#givenMs = nowMs;
    this.leave(slotKey(slot), supervisor);
  }

  /** A gateway that died gives nothing back: its connections are looked at in the moment in which they are free. */
  private awaitRunOut(survey: LeaseSurvey): void {
    clearTimeout(this.#runOut);
    const others = survey.slots.flatMap(({ owner, leftMs }) =>
      owner === null || owner === this.o.self || leftMs === null ? [] : [leftMs],
    );
    const nextMs = Math.min(...others);
    if (nextMs > RECONCILE_MS) return;
    this.#runOut = setTimeout(() => this.#periodic?.trigger(), nextMs + RUN_OUT_SLACK_MS);
    this.#runOut.unref();
  }

  private leave(key: string, supervisor: BindSupervisor, withinMs = DRAIN_MS): void {
    this.#supervisors.delete(key);
    const left = this.end(supervisor, withinMs).finally(() => {
      this.#leaving.delete(key);
      this.o.bus.publish(BINDS_TOPIC);
      this.#periodic?.trigger();
    });
    this.#leaving.set(key, left);
  }

  private async end(supervisor: BindSupervisor, withinMs: number): Promise<void> {
    await supervisor.stop(withinMs);
    this.#alive.delete(supervisor);
    await Promise.all(this.#beforeRelease.map((written) => written(supervisor.guard.lease)));
    await this.o.leases
      .release(supervisor)
      .catch((error: unknown) => this.o.logger.debug({ err: error }, 'a lease was left to run out'));
  }

  /** Its lease is lost: it has been fenced, and is nobody's here any more. */
  private forget({ lease }: LeaseGuard): void {
    const key = slotKey(lease);
    const supervisor = this.#supervisors.get(key);
    if (supervisor?.guard.lease.epoch !== lease.epoch) return;
    this.#supervisors.delete(key);
    this.o.logger.warn(
      { bindId: renderId('bind', lease.bindId), slot: lease.slot },
      'the lease of a connection was lost',
    );
    const left = supervisor.stop(0).finally(() => {
      this.#leaving.delete(key);
      this.#alive.delete(supervisor);
      this.#periodic?.trigger();
    });
    this.#leaving.set(key, left);
  }

  private supervise(guard: LeaseGuard, bind: Bind): BindSupervisor {
    const meter = this.o.metrics.links.meter('bind', bind.name);
    const supervisor = new BindSupervisor(guard, bind, {
      keys: this.o.keys,
      clock: this.o.clock,
      recorder: this.o.recorder,
      onMessage: (pdu, link) => this.o.inbound.accept(pdu, link),
      onPdu: ({ name }, direction, pdu, nowMs) => {
        meter.belongsTo(name);
        meter.see(direction, pdu, nowMs);
      },
      onState: (...change) => this.note(...change),
    });
    this.#supervisors.set(slotKey(guard.lease), supervisor);
    this.#alive.add(supervisor);
    return supervisor;
  }

  private note(bind: Bind, to: ConnectionState, note: BindNote): void {
    const { metrics, logger, leases, bus } = this.o;
    if (note.retryInMs !== undefined) metrics.links.reconnects.inc({ bind: metrics.links.labelOf('bind', bind.name) });
    const level = to === 'bound' ? 'info' : note.retryInMs === undefined ? 'debug' : 'warn';
    if (to === 'bound') for (const heard of this.#onBound) heard();
    leases.trigger();
    bus.publish(BIND_STATUS_TOPIC, { bindId: bind.id });
    logger[level]({ bind: bind.name, carrier: bind.carrier, state: to, ...note }, 'bind');
  }
}
