import type { RestrictedKind } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';

export const DESTINATION_ACTIONS = ['allow', 'block'] as const;
export type DestinationAction = (typeof DESTINATION_ACTIONS)[number];

/** Whether codes go to numbers that begin so: what an admin has said, or what the guard has blocked by itself. */
export interface DestinationRule {
  readonly id: Uuid;
  /** The one account that it concerns, or null for all. */
  readonly accountId: Uuid | null;
  /** A plus sign and at least one digit. */
  readonly prefix: string;
  readonly action: DestinationAction;
  /** Restricted kinds of numbers that an allow rule allows; empty for a block. */
  readonly kinds: readonly RestrictedKind[];
  /** For people. */
  readonly reason: string;
  readonly origin: 'admin' | 'guard';
  /** The first moment at which it no longer holds; null for never. */
  readonly until: Date | null;
  /** How often the guard had blocked this before, as far as it remembers. */
  readonly strikes: number;
  readonly createdAt: Date;
}

export interface NewDestinationRule {
  readonly accountId?: Uuid | null;
  readonly prefix: string;
  readonly action: DestinationAction;
  readonly kinds?: readonly RestrictedKind[];
  readonly reason: string;
  readonly until?: Date | null;
}

/** What the guard blocks, and for how long (contract, Admin: "what the guard has blocked by itself"). */
export interface GuardBlock {
  readonly accountId: Uuid;
  readonly prefix: string;
  readonly reason: string;
  /** The first time; four times as long on each repeat. */
  readonly blockSeconds: number;
}

/** What the guard refused of one account in one hour by one rule, to one block of numbers. */
export interface RefusalTally {
  readonly id: Uuid;
  readonly accountId: Uuid;
  /** Its beginning. */
  readonly hour: Date;
  /** The name of the guard's rule. */
  readonly rule: string;
  /** The numbers without their last four digits. */
  readonly prefix: string;
  readonly refused: number;
  readonly lastAt: Date;
}

/** One page, newest first. */
export interface DestinationPage {
  readonly limit: number;
  /** The last id of the page before; null for the first page. */
  readonly startingAfter?: Uuid | null;
  /** Only what concerns this account alone. */
  readonly accountId?: Uuid | null;
}
