import type { BindLease, ConnectionStatus, HeldConnection } from '@countersign/carriers/leases';
import { createLogger } from '@countersign/telemetry';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HELD_FOR_MS, RENEW_EVERY_MS, type LeaseGuard } from './lease-guard.js';
import { LeaseRenewer, type LeasedConnection, type Loss } from './lease-renewer.js';

const SELF = { id: '01890000-0000-7000-8000-000000000001', host: 'here', version: '0' };
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
  constructor(readonly guard: LeaseGuard) {}
  status(): ConnectionStatus {
    return STATUS;
  }
  fence(reason: string): void {
    this.fenced = reason;
  }
}

/** Rows as a database that may be away, or may say that a lease is another's. */
class Rows {
  isAway = false;
  isTaken = false;
  renewals = 0;
  released = 0;
  readonly leases = {
    survey: () => Promise.resolve({ gateways: [SELF.id], slots: [] }),
    claimSlots: (): Promise<BindLease[]> => Promise.resolve([{ ...SLOT, owner: SELF.id, epoch: '1' }]),
    renewLeases: (_tx: unknown, _owner: string, held: readonly HeldConnection[]) => {
      this.renewals += 1;
      return Promise.resolve(new Set(this.isTaken ? [] : held.map(({ lease }) => `${lease.bindId}/${lease.slot}`)));
    },
    releaseLeases: (_db: unknown, _owner: string, held: readonly HeldConnection[]) => {
      this.released += held.length;
      return this.isAway ? Promise.reject(new Error('away')) : Promise.resolve();
    },
  };
  readonly gateways = {
    recordHeartbeat: () => (this.isAway ? Promise.reject(new Error('away')) : Promise.resolve()),
    deleteGateway: () => (this.isAway ? Promise.reject(new Error('away')) : Promise.resolve()),
  };
  readonly database = {
    query: () => Promise.reject(new Error('not asked for')),
    transaction: async <T>(work: (tx: { query: () => Promise<never[]> }) => Promise<T>): Promise<T> =>
      work({ query: () => Promise.resolve([]) }),
  };
}

let rows: Rows;
let keeper: LeaseRenewer;
let losses: Loss[];
let connection: Connection;

beforeEach(async () => {
  vi.useFakeTimers();
  rows = new Rows();
  losses = [];
  keeper = new LeaseRenewer({
    database: rows.database,
    gateways: rows.gateways,
    leases: rows.leases,
    self: SELF,
    logger: createLogger({ app: 'gateway', level: 'silent' }),
    onRenewal: () => undefined,
    onLoss: (loss) => losses.push(loss),
  });
  await keeper.start();
  await keeper.claim([SLOT], (guard) => (connection = new Connection(guard)));
});
afterEach(async () => {
  rows.isAway = false;
  await keeper.stop();
  vi.useRealTimers();
});

const holds = (): boolean => connection.guard.holds(performance.now());

describe('leases of a gateway', () => {
  it('are renewed as long as the database answers', async () => {
    await vi.advanceTimersByTimeAsync(60_000);
    expect(holds()).toBe(true);
    expect(connection.fenced).toBe(null);
    expect(rows.renewals).toBeGreaterThanOrEqual(60_000 / RENEW_EVERY_MS - 1);
    expect(rows.renewals).toBeLessThan((2 * 60_000) / RENEW_EVERY_MS);
  });

  it('are lost ten seconds after the last renewal that went well, and the connection is cut at once', async () => {
    rows.isAway = true;
    await vi.advanceTimersByTimeAsync(HELD_FOR_MS - 1);
    expect([holds(), connection.fenced]).toEqual([true, null]);
    await vi.advanceTimersByTimeAsync(1);
    expect([holds(), connection.fenced]).toEqual([false, 'the lease could not be renewed']);
    expect(losses).toEqual(['not_renewed']);
    expect(keeper.held.size).toBe(0);
  });

  it('outlive a database that was away for less than that', async () => {
    await vi.advanceTimersByTimeAsync(RENEW_EVERY_MS);
    rows.isAway = true;
    await vi.advanceTimersByTimeAsync(HELD_FOR_MS - 2_000);
    rows.isAway = false;
    await vi.advanceTimersByTimeAsync(60_000);
    expect([holds(), connection.fenced]).toEqual([true, null]);
  });

  it('are lost as soon as a renewal says that they are another’s', async () => {
    rows.isTaken = true;
    keeper.trigger();
    await vi.advanceTimersByTimeAsync(0);
    expect([holds(), connection.fenced]).toEqual([false, 'the lease was taken']);
    expect(losses).toEqual(['taken']);
  });

  it('hold nothing once they are given back, which the database may not hear', async () => {
    rows.isAway = true;
    await expect(keeper.release(connection)).rejects.toThrow('away');
    expect([holds(), connection.fenced]).toEqual([false, null]);
    expect(keeper.held.size).toBe(0);
  });

  it('are given back with the stop, once', async () => {
    await keeper.stop();
    await keeper.stop();
    expect(rows.released).toBe(1);
    expect(holds()).toBe(false);
  });
});
