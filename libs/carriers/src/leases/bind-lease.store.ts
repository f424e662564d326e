import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import type { Bind } from '../config/bind.entity.js';
import {
  CHECK_LEASES,
  CLAIM_OUTBIND_SLOT,
  CLAIM_SLOTS,
  ENSURE_SLOTS,
  FIND_EVENTS,
  LIST_CLAIMING_GATEWAYS,
  RELEASE_SLOTS,
  RENEW_SLOTS,
  SURVEY_SLOTS,
} from './bind-lease.sql.js';
import {
  leaseKey,
  slotKey,
  type BindLease,
  type BindSlotName,
  type ClaimedLease,
  type LeaseSurvey,
  type SurveyedSlot,
} from './bind-lease.js';
import type { ConnectionStatus } from '../status/bind-status.js';
import { parseEvents, type ConnectionEvent } from '../status/connection-event.js';

/** A lease with the owner's status of the connection. */
export interface HeldConnection {
  readonly lease: BindLease;
  readonly status: ConnectionStatus;
  /** Events of the connection, oldest first; absent when the stored ones are up to date. */
  readonly events?: readonly ConnectionEvent[] | undefined;
}

/** The events of one connection of a bind, oldest first. */
export interface SlotEvents {
  readonly slot: number;
  readonly events: readonly ConnectionEvent[];
}

/** `events`: unchecked JSON. */
type ClaimedRow = BindLease & { readonly events: unknown };

/** A bind with `outbind`, as read. */
export type OutbindRow = Pick<Bind, 'id' | 'outbind' | 'outbindPasswordSealed'>;

/** Leases of bind connections: the right to act on a connection, decided in the database by its clock. */
export class BindLeaseStore {
  /** The state of all wanted connections; inserts missing rows. */
  async survey(db: Executor): Promise<LeaseSurvey> {
    await db.query(ENSURE_SLOTS);
    const [slots, gateways] = await Promise.all([
      db.query<SurveyedSlot>(SURVEY_SLOTS),
      db.query<{ id: Uuid }>(LIST_CLAIMING_GATEWAYS),
    ]);
    return { slots, gateways: gateways.map(({ id }) => id) };
  }

  /** Claims the free ones of the slots; returns the leases obtained. */
  async claimSlots(db: Executor, owner: Uuid, slots: readonly BindSlotName[]): Promise<ClaimedLease[]> {
    if (slots.length === 0) return [];
    const claim = [owner, slots.map(({ bindId }) => bindId), slots.map(({ slot }) => slot)];
    return (await db.query<ClaimedRow>(CLAIM_SLOTS, claim)).map(claimedLeaseOf);
  }

  /**
   * Claims a free connection of a bind whose carrier has sent outbind. Null when there is none, or when the bind was disabled
   * or its outbind changed since the row was read.
   */
  async claimOutbindSlot(db: Executor, owner: Uuid, bind: OutbindRow): Promise<ClaimedLease | null> {
    const { id, outbind, outbindPasswordSealed: sealed } = bind;
    const claim = [owner, id, JSON.stringify(outbind), sealed];
    const [claimed] = await db.query<ClaimedRow>(CLAIM_OUTBIND_SLOT, claim);
    if (claimed !== undefined) return claimedLeaseOf(claimed);
    // A bind that was created since the last survey has no rows of connections.
    await db.query(ENSURE_SLOTS);
    const [later] = await db.query<ClaimedRow>(CLAIM_OUTBIND_SLOT, claim);
    return later === undefined ? null : claimedLeaseOf(later);
  }

  /** Renews leases of one owner; returns the keys of the slots that it still held (see `slotKey`). */
  async renewLeases(db: Executor, owner: Uuid, held: readonly HeldConnection[]): Promise<ReadonlySet<string>> {
    if (held.length === 0) return new Set();
    const rows = await db.query<BindSlotName>(RENEW_SLOTS, [owner, ...columnsOf(held)]);
    return new Set(rows.map(slotKey));
  }

  /**
   * Releases leases of one owner, so that another gateway need not wait for their expiry. Lost leases are unchanged.
   */
  async releaseLeases(db: Executor, owner: Uuid, held: readonly HeldConnection[]): Promise<void> {
    if (held.length > 0) await db.query(RELEASE_SLOTS, [owner, ...columnsOf(held)]);
  }

  /** The events of each connection of a bind; connections without any are left out. */
  async findEvents(db: Executor, bindId: Uuid): Promise<SlotEvents[]> {
    const rows = await db.query<{ slot: number; events: unknown }>(FIND_EVENTS, [bindId]);
    return rows.map(({ slot, events }) => ({ slot, events: parseEvents(events) }));
  }

  /**
   * The leases that are held in the caller's transaction (see `leaseKey`). `includeExpired`: an expired lease counts if
   * nobody has claimed the connection since.
   */
  async findHeldLeases(
    tx: Executor,
    leases: readonly BindLease[],
    includeExpired = false,
  ): Promise<ReadonlySet<string>> {
    const named = [...new Map(leases.map((lease) => [leaseKey(lease), lease])).values()];
    if (named.length === 0) return new Set();
    const rows = await tx.query<BindLease>(CHECK_LEASES, [
      named.map(({ bindId }) => bindId),
      named.map(({ slot }) => slot),
      named.map(({ owner }) => owner),
      named.map(({ epoch }) => epoch),
      includeExpired,
    ]);
    return new Set(rows.map(leaseKey));
  }
}

const claimedLeaseOf = (row: ClaimedRow): ClaimedLease => ({ ...row, events: parseEvents(row.events) });

const columnsOf = (held: readonly HeldConnection[]): unknown[] => [
  held.map(({ lease }) => lease.bindId),
  held.map(({ lease }) => lease.slot),
  held.map(({ lease }) => lease.epoch),
  held.map(({ status }) => JSON.stringify(status)),
  held.map(({ events }) => (events === undefined ? null : JSON.stringify(events))),
];
