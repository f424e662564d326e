import type { Uuid } from '@countersign/ids';
import type { ConnectionEvent } from '../status/connection-event.js';

export { LEASE_SECONDS } from '../config/lease.sql.js';

/**
 * The owner acts this long after a renewal, which is less than LEASE_SECONDS: its last operation ends before the
 * expiry. A lease that was not renewed for longer belongs to a gateway that crashed, is paused or cannot reach the
 * database.
 */
export const HELD_FOR_SECONDS = 10;

/** One wanted connection of a bind. */
export interface BindSlotName {
  readonly bindId: Uuid;
  /** From 0. */
  readonly slot: number;
}

/**
 * The right of one gateway to act on one connection. Every write for the connection names the lease, so that a
 * gateway that lost it without noticing writes nothing.
 */
export interface BindLease extends BindSlotName {
  /** Gateway id. */
  readonly owner: Uuid;
  /** Incremented by every claim; a bigint as text. */
  readonly epoch: string;
}

/** A lease that was claimed now. */
export interface ClaimedLease extends BindLease {
  /** Events of the connection before, oldest first. */
  readonly events: readonly ConnectionEvent[];
}

/** The state of all wanted connections, by the database's clock. */
export interface LeaseSurvey {
  /** Gateways that are alive and not stopping, by id. */
  readonly gateways: readonly Uuid[];
  /** Every wanted connection that gateways open, by bind and slot. */
  readonly slots: readonly SurveyedSlot[];
}

export interface SurveyedSlot extends BindSlotName {
  /** The holder; null if free. */
  readonly owner: Uuid | null;
  /** Remaining lease time; null if free. */
  readonly leftMs: number | null;
}

/** Map key of a slot. */
export const slotKey = ({ bindId, slot }: BindSlotName): string => `${bindId}/${slot}`;

/** Map key of a lease: the slot at one epoch. */
export const leaseKey = (lease: BindLease): string => `${slotKey(lease)}/${lease.epoch}/${lease.owner}`;
