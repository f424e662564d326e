import {
  slotKey,
  type BindLeaseStore,
  type BindSlotName,
  type ConnectionStatus,
  type GatewayIdentity,
  type GatewayStore,
  type HeldConnection,
  type LeaseSurvey,
} from '@countersign/carriers/leases';
import type { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';
import { LeaseGuard, RENEW_EVERY_MS } from './lease-guard.js';

/** How often it is asked whether a renewal is due: one that failed is tried again after this, while the lease lasts. */
const CHECK_EVERY_MS = 1_000;
/** One line in this time says that the database is away. */
const REPORT_EVERY_MS = 5_000;

/** What is acted on under a lease. */
export interface LeasedConnection {
  readonly guard: LeaseGuard;
  status(): ConnectionStatus;
  /** The lease is lost: nothing more may be said over the connection, not even good-bye. Must not throw. */
  fence(reason: string): void;
}

export type Renewal = 'renewed' | 'failed';
/** Why a lease was lost: nobody renewed it in time, or its row names another owner or epoch. */
export type Loss = 'not_renewed' | 'taken';

export interface LeaseRenewerOptions {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly gateways: Pick<GatewayStore, 'beat' | 'leave'>;
  readonly leases: Pick<BindLeaseStore, 'survey' | 'claim' | 'renew' | 'release'>;
  readonly self: GatewayIdentity;
  readonly logger: Logger;
  /** Told of every renewal of the set, and of every lease that was lost. Must not throw. */
  readonly onRenewal: (renewal: Renewal) => void;
  readonly onLoss: (loss: Loss) => void;
}

/**
 * Keeps this gateway's row and its leases alive, with what is seen of their connections, in one transaction every five
 * seconds and whenever something changed. A lease that could not be renewed in time is lost by this process's own
 * clock, before any other gateway may take it: its connection is cut at once.
 */
export class LeaseRenewer {
  readonly #held = new Map<string, LeasedConnection>();
  readonly #lossListeners: ((connection: LeasedConnection) => void)[] = [];
  #pollLoop: PollLoop | undefined;
  #fenceTimer: NodeJS.Timeout | undefined;
  #nextRenewalMs = -Infinity;
  #stopping = false;
  #reportedMs = -Infinity;

  constructor(private readonly o: LeaseRenewerOptions) {}

  /** Keys of the connections that this gateway holds. */
  get heldKeys(): ReadonlySet<string> {
    return new Set(this.#held.keys());
  }

  /** Hears of every connection whose lease was lost, after it was fenced. Must not throw. */
  onLeaseLost(listener: (connection: LeasedConnection) => void): void {
    this.#lossListeners.push(listener);
  }

  /** Writes the gateway's row before it returns: whoever counts the gateways counts this one. */
  async start(): Promise<void> {
    await this.renewAll();
    this.#pollLoop = new PollLoop({
      everyMs: CHECK_EVERY_MS,
      work: () => this.renewIfDue(),
      onError: (error) => this.report(error),
    });
  }

  /** Something worth telling has changed. Never throws, never waits. */
  trigger(): void {
    this.#nextRenewalMs = -Infinity;
    this.#pollLoop?.trigger();
  }

  survey(): Promise<LeaseSurvey> {
    return this.o.leases.survey(this.o.database);
  }

  /** Claims what is free of these, and opens a connection under each lease that it got. */
  async claimLeases(
    slots: readonly BindSlotName[],
    open: (guard: LeaseGuard) => LeasedConnection | null,
  ): Promise<void> {
    const startedMs = performance.now();
    const leases = await this.o.leases.claim(this.o.database, this.o.self.id, slots);
    for (const lease of leases) {
      const connection = open(new LeaseGuard(lease, startedMs));
      if (connection !== null) this.#held.set(slotKey(lease), connection);
    }
    this.scheduleFence();
  }

  /** Gives the lease of a connection that is over back. Without the database it runs out by itself. */
  async releaseLease(connection: LeasedConnection): Promise<void> {
    const key = slotKey(connection.guard.lease);
    if (this.#held.get(key) !== connection) return;
    this.#held.delete(key);
    await this.releaseAll([connection]);
  }

  /** Says that this gateway takes nothing any more. Its leases go on until they are released. */
  async announceStop(): Promise<void> {
    this.#stopping = true;
    await this.renewAll();
  }

  /** Gives back what is left, and takes the gateway's row away. */
  async stop(): Promise<void> {
    await this.#pollLoop?.stop();
    clearTimeout(this.#fenceTimer);
    const held = [...this.#held.values()];
    this.#held.clear();
    try {
      await this.releaseAll(held);
      await this.o.gateways.leave(this.o.database, this.o.self.id);
    } catch (error) {
      this.o.logger.debug({ err: error }, 'without the database, leases run out by themselves');
    }
  }

  private async releaseAll(connections: readonly LeasedConnection[]): Promise<void> {
    const last = connections.map(heldConnectionOf);
    for (const { guard } of connections) guard.invalidate();
    await this.o.leases.release(this.o.database, this.o.self.id, last);
  }

  private async renewIfDue(): Promise<boolean> {
    if (performance.now() >= this.#nextRenewalMs) await this.renewAll();
    return false;
  }

  private async renewAll(): Promise<void> {
    const { database, gateways, leases, self } = this.o;
    const startedMs = performance.now();
    this.#nextRenewalMs = startedMs + RENEW_EVERY_MS;
    // A process that was paused finds out here, or by its timer: what it lost meanwhile is not renewed.
    this.fenceExpired();
    const held = [...this.#held.values()];
    try {
      const kept = await database.transaction(async (tx) => {
        const beaten = gateways.beat(tx, self, this.#stopping);
        const [renewed] = await Promise.all([leases.renew(tx, self.id, held.map(heldConnectionOf)), beaten]);
        return renewed;
      });
      this.o.onRenewal('renewed');
      for (const connection of held) this.applyRenewal(connection, kept, startedMs);
    } catch (error) {
      this.#nextRenewalMs = -Infinity;
      this.o.onRenewal('failed');
      throw error;
    } finally {
      this.scheduleFence();
    }
  }

  private applyRenewal(connection: LeasedConnection, kept: ReadonlySet<string>, startedMs: number): void {
    const key = slotKey(connection.guard.lease);
    // Released or lost while the answer was on its way: that stands.
    if (this.#held.get(key) !== connection) return;
    if (kept.has(key)) connection.guard.extend(startedMs);
    else this.loseLease(connection, 'taken');
  }

  /** Wakes at the moment at which the first lease is no longer held. */
  private scheduleFence(): void {
    clearTimeout(this.#fenceTimer);
    const nextMs = Math.min(...[...this.#held.values()].map(({ guard }) => guard.heldUntilMs));
    if (!Number.isFinite(nextMs)) return;
    this.#fenceTimer = setTimeout(() => this.fenceExpired(), Math.max(0, nextMs - performance.now()));
    this.#fenceTimer.unref();
  }

  private fenceExpired(): void {
    const nowMs = performance.now();
    for (const connection of this.#held.values())
      if (!connection.guard.isHeld(nowMs)) this.loseLease(connection, 'not_renewed');
    this.scheduleFence();
  }

  private loseLease(connection: LeasedConnection, loss: Loss): void {
    const { guard } = connection;
    this.#held.delete(slotKey(guard.lease));
    guard.invalidate();
    connection.fence(loss === 'taken' ? 'the lease was taken' : 'the lease could not be renewed');
    this.o.onLoss(loss);
    for (const listener of this.#lossListeners) listener(connection);
  }

  private report(error: unknown): void {
    const nowMs = performance.now();
    if (nowMs - this.#reportedMs < REPORT_EVERY_MS) return;
    this.#reportedMs = nowMs;
    this.o.logger.warn({ err: error, leases: this.#held.size }, 'leases could not be renewed, and it is tried again');
  }
}

const heldConnectionOf = (connection: LeasedConnection): HeldConnection => ({
  lease: connection.guard.lease,
  status: connection.status(),
});
