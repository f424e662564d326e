import { slotKey, type BindSlotName, type HeldConnection, type OutbindRow } from '@countersign/carriers/leases';
import type { ConnectionEvent, ConnectionStatus } from '@countersign/carriers/status';
import { Inject, Injectable } from '@nestjs/common';
import { throttled } from '@countersign/resilience';
import { elapsedMs, PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { OnStart, OnStop } from '../composition/phases.js';
import { GatewayLeaseStore } from './gateway-lease.store.js';
import type { ConnectionHistory } from './connection-history.js';
import { LeaseGuard, RENEW_EVERY_MS } from './lease-guard.js';
import { LeaseMetrics } from './lease.metrics.js';

/** Interval at which a due renewal is checked; a failed renewal is retried after it while the lease lasts. */
const CHECK_EVERY_MS = 1_000;
/** Minimum time between log lines about failed renewals. */
const REPORT_EVERY_MS = 5_000;

/** A connection that is used only while its lease is held. */
export interface LeasedConnection {
  readonly guard: LeaseGuard;
  readonly history: Pick<ConnectionHistory, 'unstored' | 'markStored'>;
  status(): ConnectionStatus;
  /** Called when the lease is lost: no further PDU may be sent, not even an unbind. Must not throw. */
  fence(reason: string): void;
}

/** Opens a connection under its lease; `events`: what happened to it before. */
export type Open<Opened> = (guard: LeaseGuard, events: readonly ConnectionEvent[]) => Opened;

/** Reason of a lost lease: not renewed in time, or its row has another owner or epoch. */
type Loss = 'not_renewed' | 'taken';

/**
 * Renews this gateway's row and its leases, with the status and events of their connections, in one transaction every five seconds and
 * after each change. A lease not renewed in time counts as lost by the monotonic clock of this process, before another
 * gateway can claim it, and its connection is closed at once.
 */
@Injectable()
export class LeaseRenewer {
  readonly #held = new Map<string, LeasedConnection>();
  readonly #lossListeners: ((connection: LeasedConnection) => void)[] = [];
  #pollLoop: PollLoop | undefined;
  #fenceTimer: NodeJS.Timeout | undefined;
  #nextRenewalMs = -Infinity;
  #stopping = false;
  readonly #report = throttled(
    (err) => this.logger.warn({ err, leases: this.#held.size }, 'lease renewer: leases could not be renewed; retrying'),
    REPORT_EVERY_MS,
  );

  constructor(
    private readonly store: GatewayLeaseStore,
    private readonly metrics: LeaseMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    metrics.registerHeld(() => this.#held.size);
  }

  /** Keys of the connections that this gateway holds. */
  get heldKeys(): ReadonlySet<string> {
    return new Set(this.#held.keys());
  }

  /** Registers a listener called after a connection was fenced for a lost lease. Must not throw. */
  onLeaseLost(listener: (connection: LeasedConnection) => void): void {
    this.#lossListeners.push(listener);
  }

  /** Writes the gateway's row before it returns, so that other gateways count this one. */
  @OnStart('write the gateway row')
  async start(): Promise<void> {
    await this.renewAll();
    this.#pollLoop = new PollLoop({
      everyMs: CHECK_EVERY_MS,
      work: () => this.renewIfDue(),
      onError: this.#report,
    });
  }

  /** Renews at once, after a status change. Never throws or blocks. */
  trigger(): void {
    this.#nextRenewalMs = -Infinity;
    this.#pollLoop?.trigger();
  }

  /** Claims the free ones of these slots, and opens a connection under each lease obtained. */
  async claimLeases(slots: readonly BindSlotName[], open: Open<LeasedConnection | null>): Promise<void> {
    const startedMs = elapsedMs();
    const claimed = await this.store.claimSlots(slots);
    for (const { events, ...lease } of claimed) {
      const connection = open(new LeaseGuard(lease, startedMs), events);
      if (connection !== null) this.#held.set(slotKey(lease), connection);
    }
    this.scheduleFence();
  }

  /**
   * Claims a free connection of a bind whose carrier has sent outbind, and opens it under the lease; false when none is free.
   * Rejects when the database is unreachable.
   */
  async claimOutbindLease(bind: OutbindRow, open: Open<LeasedConnection>): Promise<boolean> {
    const startedMs = elapsedMs();
    const claimed = await this.store.claimOutbindSlot(bind);
    if (claimed === null) return false;
    const { events, ...lease } = claimed;
    this.#held.set(slotKey(lease), open(new LeaseGuard(lease, startedMs), events));
    this.scheduleFence();
    return true;
  }

  /** Releases the lease of an ended connection. If the database is unreachable, the lease expires instead. */
  async releaseLease(connection: LeasedConnection): Promise<void> {
    const key = slotKey(connection.guard.lease);
    if (this.#held.get(key) !== connection) return;
    this.#held.delete(key);
    await this.releaseAll([connection]);
  }

  /**
   * Marks the gateway's row as stopping. Its leases are renewed until they are released. Best effort: without the database
   * other gateways cannot read the row either.
   */
  @OnStop('stop reconnecting')
  async announceStop(): Promise<void> {
    this.#stopping = true;
    await this.renewAll().catch((error: unknown) =>
      this.logger.debug({ err: error }, 'lease renewer: stop could not be announced'),
    );
  }

  /** Releases the remaining leases and deletes the gateway's row. */
  @OnStop('remove the gateway row')
  async stop(): Promise<void> {
    await this.#pollLoop?.stop();
    clearTimeout(this.#fenceTimer);
    const held = [...this.#held.values()];
    this.#held.clear();
    try {
      await this.releaseAll(held);
      await this.store.deleteGateway();
    } catch (error) {
      this.logger.debug({ err: error }, 'lease renewer: leases could not be released; they will expire');
    }
  }

  private async releaseAll(connections: readonly LeasedConnection[]): Promise<void> {
    const last = connections.map(heldConnectionOf);
    for (const { guard } of connections) guard.invalidate();
    await this.store.releaseLeases(last);
  }

  private async renewIfDue(): Promise<boolean> {
    if (elapsedMs() >= this.#nextRenewalMs) await this.renewAll();
    return false;
  }

  private async renewAll(): Promise<void> {
    const startedMs = elapsedMs();
    this.#nextRenewalMs = startedMs + RENEW_EVERY_MS;
    // After a pause of the process, leases that expired meanwhile are lost here and not renewed.
    this.fenceExpired();
    const held = [...this.#held.values()];
    let written: readonly HeldConnection[] = [];
    try {
      const kept = await this.store.renewLeases(
        () => (written = held.map(heldConnectionOf)),
        () => this.#stopping,
      );
      this.metrics.renewals.inc({ outcome: 'renewed' });
      for (const [index, connection] of held.entries()) {
        this.applyRenewal(connection, written[index]?.events, kept, startedMs);
      }
    } catch (error) {
      this.#nextRenewalMs = -Infinity;
      this.metrics.renewals.inc({ outcome: 'failed' });
      throw error;
    } finally {
      this.scheduleFence();
    }
  }

  private applyRenewal(
    connection: LeasedConnection,
    events: HeldConnection['events'],
    kept: ReadonlySet<string>,
    startedMs: number,
  ): void {
    const key = slotKey(connection.guard.lease);
    // Released or lost during the renewal.
    if (this.#held.get(key) !== connection) return;
    if (!kept.has(key)) {
      this.loseLease(connection, 'taken');
      return;
    }
    connection.guard.extend(startedMs);
    if (events !== undefined) connection.history.markStored(events);
  }

  /** Sets a timer for the first expiry of a held lease. */
  private scheduleFence(): void {
    clearTimeout(this.#fenceTimer);
    const nextMs = Math.min(...[...this.#held.values()].map(({ guard }) => guard.heldUntilMs));
    if (!Number.isFinite(nextMs)) return;
    this.#fenceTimer = setTimeout(() => this.fenceExpired(), Math.max(0, nextMs - elapsedMs()));
    this.#fenceTimer.unref();
  }

  private fenceExpired(): void {
    const nowMs = elapsedMs();
    for (const connection of this.#held.values())
      if (!connection.guard.isHeld(nowMs)) this.loseLease(connection, 'not_renewed');
    this.scheduleFence();
  }

  private loseLease(connection: LeasedConnection, loss: Loss): void {
    const { guard } = connection;
    this.#held.delete(slotKey(guard.lease));
    guard.invalidate();
    connection.fence(loss === 'taken' ? 'the lease was taken' : 'the lease could not be renewed');
    this.metrics.lost.inc({ reason: loss });
    for (const listener of this.#lossListeners) listener(connection);
  }
}

const heldConnectionOf = (connection: LeasedConnection): HeldConnection => ({
  lease: connection.guard.lease,
  status: connection.status(),
  events: connection.history.unstored,
});
