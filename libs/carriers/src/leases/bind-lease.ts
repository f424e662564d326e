import type { Uuid } from '@countersign/ids';

/** The lease of a connection that its owner does not renew runs out after this time, by the database's clock (contract, Admin). */
export const LEASE_SECONDS = 15;

/**
 * Its owner acts for so long after a renewal, and not until the lease runs out: what it began last ends under the lease.
 * A lease that was not renewed for longer belongs to a gateway that died, sleeps or does not reach the database.
 */
export const HELD_FOR_SECONDS = 10;

/** One wanted connection of a bind. */
export interface BindSlotName {
  readonly bindId: Uuid;
  /** From 0. */
  readonly slot: number;
}

/**
 * The right of one gateway to act on one connection. Whatever is written for the connection names it, so that a gateway
 * that lost the right without knowing writes nothing.
 */
export interface BindLease extends BindSlotName {
  /** The gateway. */
  readonly owner: Uuid;
  /** Rises with every new claim; a bigint as text. */
  readonly epoch: string;
}

/** How all that is wanted stands, by the database's clock. */
export interface LeaseSurvey {
  /** Gateways that live and are not stopping, in the order of their ids. */
  readonly gateways: readonly Uuid[];
  /** Every wanted connection, in the order of binds and slots. */
  readonly slots: readonly SurveyedSlot[];
}

export interface SurveyedSlot extends BindSlotName {
  /** Who holds it; null when it is free. */
  readonly owner: Uuid | null;
  /** How long the lease has still to go; null when it is free. */
  readonly leftMs: number | null;
}

/** Names a slot as text, for maps. */
export const slotKey = ({ bindId, slot }: BindSlotName): string => `${bindId}/${slot}`;

/** Names a lease as text: the slot at one epoch. */
export const leaseKey = (lease: BindLease): string => `${slotKey(lease)}/${lease.epoch}/${lease.owner}`;
