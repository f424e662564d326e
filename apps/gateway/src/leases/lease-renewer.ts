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
const LOOK_EVERY_MS = 1_000;
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
  readonly gateways: Pick<GatewayStore, 'recordHeartbeat' | 'deleteGateway'>;
  readonly leases: Pick<BindLeaseStore, 'survey' | 'claimSlots' | 'renewLeases' | 'releaseLeases'>;
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
  readonly #lost: ((connection: LeasedConnection) => void)[] = [];
  #periodic: PollLoop | undefined;
  #fence: NodeJS.Timeout | undefined;
  #nextBeatMs = -Infinity;
  #stopping = false;
  #reportedMs = -Infinity;

  constructor(private readonly o: LeaseRenewerOptions) {}

  /** Keys of the connections that this gateway holds. */
  get held(): ReadonlySet<string> {
    return new Set(this.#held.keys());
  }

  /** Hears of every connection whose lease was lost, after it was fenced. Must not throw. */
  onLost(listener: (connection: LeasedConnection) => void): void {
    this.#lost.push(listener);
  }

  /** Writes the gateway's row before it returns: whoever counts the gateways counts this one. */
  async start(): Promise<void> {
    await this.beat();
    this.#periodic = new PollLoop({
      everyMs: LOOK_EVERY_MS,
      work: () => this.beatIfDue(),
      onError: (error) => this.report(error),
    });
  }

  /** Something worth telling has changed. Never throws, never waits. */
  trigger(): void {
    this.#nextBeatMs = -Infinity;
    this.#periodic?.trigger();
  }

  survey(): Promise<LeaseSurvey> {
    return this.o.leases.survey(this.o.database);
  }

  /** Claims what is free of these, and opens a connection under each lease that it got. */
  async claim(slots: readonly BindSlotName[], open: (guard: LeaseGuard) => LeasedConnection | null): Promise<void> {
    const startedMs = performance.now();
    const leases = await this.o.leases.claimSlots(this.o.database, this.o.self.id, slots);
    for (const lease of leases) {
      const connection = open(new LeaseGuard(lease, startedMs));
      if (connection !== null) this.#held.set(slotKey(lease), connection);
    }
    this.armFence();
  }

  /** Gives the lease of a connection that is over back. Without the database it runs out by itself. */
  async release(connection: LeasedConnection): Promise<void> {
    const key = slotKey(connection.guard.lease);
    if (this.#held.get(key) !== connection) return;
    this.#held.delete(key);
    await this.giveBack([connection]);
  }

  /** Says that this gateway takes nothing any more. Its leases go on until they are released. */
  async stopTaking(): Promise<void> {
    this.#stopping = true;
    await this.beat();
  }

  /** Gives back what is left, and takes the gateway's row away. */
  async stop(): Promise<void> {
    await this.#periodic?.stop();
    clearTimeout(this.#fence);
    const held = [...this.#held.values()];
    this.#held.clear();
    try {
      await this.giveBack(held);
      await this.o.gateways.deleteGateway(this.o.database, this.o.self.id);
    } catch (error) {
      this.o.logger.debug({ err: error }, 'without the database, leases run out by themselves');
    }
  }

  private async giveBack(connections: readonly LeasedConnection[]): Promise<void> {
    const last = connections.map(seen);
    for (const { guard } of connections) guard.giveUp();
    await this.o.leases.releaseLeases(this.o.database, this.o.self.id, last);
  }

  private async beatIfDue(): Promise<boolean> {
    if (performance.now() >= this.#nextBeatMs) await this.beat();
    return false;
  }

  private async beat(): Promise<void> {
    const { database, gateways, leases, self } = this.o;
    const startedMs = performance.now();
    this.#nextBeatMs = startedMs + RENEW_EVERY_MS;
    // A process that was paused finds out here, or by its timer: what it lost meanwhile is not renewed.
    this.fenceLapsed();
    const held = [...this.#held.values()];
    try {
      const kept = await database.transaction(async (tx) => {
        const beaten = gateways.recordHeartbeat(tx, self, this.#stopping);
        const [renewed] = await Promise.all([leases.renewLeases(tx, self.id, held.map(seen)), beaten]);
        return renewed;
      });
      this.o.onRenewal('renewed');
      for (const connection of held) this.settle(connection, kept, startedMs);
    } catch (error) {
      this.#nextBeatMs = -Infinity;
      this.o.onRenewal('failed');
      throw error;
    } finally {
      this.armFence();
    }
  }

  private settle(connection: LeasedConnection, kept: ReadonlySet<string>, startedMs: number): void {
    const key = slotKey(connection.guard.lease);
    // Released or lost while the answer was on its way: that stands.
    if (this.#held.get(key) !== connection) return;
    if (kept.has(key)) connection.guard.renewed(startedMs);
    else this.lose(connection, 'taken');
  }

  /** Wakes at the moment at which the first lease is no longer held. */
  private armFence(): void {
    clearTimeout(this.#fence);
    const nextMs = Math.min(...[...this.#held.values()].map(({ guard }) => guard.untilMs));
    if (!Number.isFinite(nextMs)) return;
    this.#fence = setTimeout(() => this.fenceLapsed(), Math.max(0, nextMs - performance.now()));
    this.#fence.unref();
  }

  private fenceLapsed(): void {
    const nowMs = performance.now();
    for (const connection of this.#held.values())
      if (!connection.guard.holds(nowMs)) this.lose(connection, 'not_renewed');
    this.armFence();
  }

  private lose(connection: LeasedConnection, loss: Loss): void {
    const { guard } = connection;
    this.#held.delete(slotKey(guard.lease));
    guard.giveUp();
    connection.fence(loss === 'taken' ? 'the lease was taken' : 'the lease could not be renewed');
    this.o.onLoss(loss);
    for (const heard of this.#lost) heard(connection);
  }

  private report(error: unknown): void {
    const nowMs = performance.now();
    if (nowMs - this.#reportedMs < REPORT_EVERY_MS) return;
    this.#reportedMs = nowMs;
    this.o.logger.warn({ err: error, leases: this.#held.size }, 'leases could not be renewed, and it is tried again');
  }
}

const seen = (connection: LeasedConnection): HeldConnection => ({
  lease: connection.guard.lease,
  status: connection.status(),
});
