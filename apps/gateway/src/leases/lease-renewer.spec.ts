import type { ClaimedLease, HeldConnection } from '@countersign/carriers/leases';
import type { ConnectionEvent, ConnectionStatus } from '@countersign/carriers/status';
import { createLogger, Metrics } from '@countersign/telemetry';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HELD_FOR_MS, RENEW_EVERY_MS, type LeaseGuard } from './lease-guard.js';
import { ConnectionHistory } from './connection-history.js';
import { GatewayLeaseStore } from './gateway-lease.store.js';
import { LeaseMetrics } from './lease.metrics.js';
import { LeaseRenewer, type LeasedConnection } from './lease-renewer.js';

const SELF = '01890000-0000-7000-8000-000000000001';
const STATUS: ConnectionStatus = {
  host: null,
  state: 'bound',
  since: null,
  windowUsed: 0,
  submitPerSecond: 0,
  deliverPerSecond: 0,
  throttled: 0,
  enquireLinkMs: null,
  reconnects: 0,
  lastError: null,
};
const SLOT = { bindId: '01890000-0000-7000-8000-00000000000b', slot: 0 };

class Connection implements LeasedConnection {
  fenced: string | null = null;
  readonly history: ConnectionHistory;
  constructor(
    readonly guard: LeaseGuard,
    events: readonly ConnectionEvent[],
  ) {
    this.history = new ConnectionHistory(events, SELF, () => new Date().toISOString());
  }
  status(): ConnectionStatus {
    return STATUS;
  }
  fence(reason: string): void {
    this.fenced = reason;
  }
}

/** A database stub that can be unreachable, or return that another gateway owns a lease. */
class Rows {
  isUnreachable = false;
  isTaken = false;
  renewals = 0;
  released = 0;
  /** Of each renewal. */
  readonly events: HeldConnection['events'][] = [];
  readonly leases = {
    survey: () => Promise.resolve({ gateways: [SELF], slots: [] }),
    claimOutbindSlot: () => Promise.resolve(null),
    claimSlots: (): Promise<ClaimedLease[]> => Promise.resolve([{ ...SLOT, owner: SELF, epoch: '1', events: [] }]),
    renewLeases: (_tx: unknown, _owner: string, held: readonly HeldConnection[]) => {
      this.renewals += 1;
      this.events.push(...held.map(({ events }) => events));
      return Promise.resolve(new Set(this.isTaken ? [] : held.map(({ lease }) => `${lease.bindId}/${lease.slot}`)));
    },
    releaseLeases: (_db: unknown, _owner: string, held: readonly HeldConnection[]) => {
      this.released += held.length;
      return this.isUnreachable ? Promise.reject(new Error('unreachable')) : Promise.resolve();
    },
  };
  readonly gateways = {
    recordHeartbeat: () => (this.isUnreachable ? Promise.reject(new Error('unreachable')) : Promise.resolve()),
    deleteGateway: () => (this.isUnreachable ? Promise.reject(new Error('unreachable')) : Promise.resolve()),
  };
  readonly database = {
    query: () => Promise.reject(new Error('unexpected query')),
    transaction: async <T>(work: (tx: { query: () => Promise<never[]> }) => Promise<T>): Promise<T> =>
      work({ query: () => Promise.resolve([]) }),
  };
}

let rows: Rows;
let renewer: LeaseRenewer;
let metrics: Metrics;
let connection: Connection;

beforeEach(async () => {
  vi.useFakeTimers();
  rows = new Rows();
  metrics = new Metrics({ app: 'test', processMetrics: false });
  const store = new GatewayLeaseStore(rows.database, rows.gateways, rows.leases, SELF);
  renewer = new LeaseRenewer(store, new LeaseMetrics(metrics), createLogger({ app: 'gateway', level: 'silent' }));
  await renewer.start();
  await renewer.claimLeases([SLOT], (...lease) => (connection = new Connection(...lease)));
});
afterEach(async () => {
  rows.isUnreachable = false;
  await renewer.stop();
  vi.useRealTimers();
});

/** Whether the metric has this line. */
const isCounted = async (line: string): Promise<boolean> => (await metrics.render()).text.includes(line);
const holds = (): boolean => connection.guard.isHeld(performance.now());

describe('leases of a gateway', () => {
  it('are renewed while the database is reachable', async () => {
    await vi.advanceTimersByTimeAsync(60_000);
    expect(holds()).toBe(true);
    expect(connection.fenced).toBe(null);
    expect(rows.renewals).toBeGreaterThanOrEqual(60_000 / RENEW_EVERY_MS - 1);
    expect(rows.renewals).toBeLessThan((2 * 60_000) / RENEW_EVERY_MS);
  });

  it('are lost ten seconds after the last successful renewal, and the connection is fenced at once', async () => {
    rows.isUnreachable = true;
    await vi.advanceTimersByTimeAsync(HELD_FOR_MS - 1);
    expect([holds(), connection.fenced]).toEqual([true, null]);
    await vi.advanceTimersByTimeAsync(1);
    expect([holds(), connection.fenced]).toEqual([false, 'the lease could not be renewed']);
    expect(await isCounted('countersign_leases_lost_total{reason="not_renewed",app="test"} 1')).toBe(true);
    expect(renewer.heldKeys.size).toBe(0);
  });

  it('survive a database outage shorter than that', async () => {
    await vi.advanceTimersByTimeAsync(RENEW_EVERY_MS);
    rows.isUnreachable = true;
    await vi.advanceTimersByTimeAsync(HELD_FOR_MS - 2_000);
    rows.isUnreachable = false;
    await vi.advanceTimersByTimeAsync(60_000);
    expect([holds(), connection.fenced]).toEqual([true, null]);
  });

  it('store the events of their connections until a renewal has succeeded with them', async () => {
    connection.history.add('bound', 'host:1', null);
    rows.isUnreachable = true;
    renewer.trigger();
    await vi.advanceTimersByTimeAsync(0);
    rows.isUnreachable = false;
    renewer.trigger();
    await vi.advanceTimersByTimeAsync(1_000);
    await vi.advanceTimersByTimeAsync(RENEW_EVERY_MS);
    const written = rows.events.map((events) => events?.map(({ event }) => event));
    expect(written.slice(-3)).toEqual([['bound'], ['bound'], undefined]);
    expect(connection.history.unstored).toBeUndefined();
  });

  it('are lost as soon as a renewal finds another owner', async () => {
    rows.isTaken = true;
    renewer.trigger();
    await vi.advanceTimersByTimeAsync(0);
    expect([holds(), connection.fenced]).toEqual([false, 'the lease was taken']);
    expect(await isCounted('countersign_leases_lost_total{reason="taken",app="test"} 1')).toBe(true);
  });

  it('are not held after their release, even if the database is unreachable', async () => {
    rows.isUnreachable = true;
    await expect(renewer.releaseLease(connection)).rejects.toThrow('unreachable');
    expect([holds(), connection.fenced]).toEqual([false, null]);
    expect(renewer.heldKeys.size).toBe(0);
  });

  it('are released once by the stop', async () => {
    await renewer.stop();
    await renewer.stop();
    expect(rows.released).toBe(1);
    expect(holds()).toBe(false);
  });
});
