import type { RestrictedKind } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';

export const DESTINATION_ACTIONS = ['allow', 'block'] as const;
export type DestinationAction = (typeof DESTINATION_ACTIONS)[number];

export interface NewDestinationRule {
  readonly accountId?: Uuid | null;
  readonly prefix: string;
  readonly action: DestinationAction;
  readonly kinds?: readonly RestrictedKind[];
  readonly reason: string;
  readonly until?: Date | null;
}

/** A block by the guard (contract, Admin: "what the guard has blocked by itself"). */
export interface GuardBlock {
  readonly accountId: Uuid;
  readonly prefix: string;
  readonly reason: string;
  /** Duration of the first block; four times as long on each repeat. */
  readonly blockSeconds: number;
}

/** Refusals by the guard for one account, hour, rule and block of numbers. */
export interface RefusalTally {
  readonly id: Uuid;
  readonly accountId: Uuid;
  /** Start of the hour. */
  readonly hour: Date;
  /** Name of the guard's rule. */
  readonly rule: string;
  /** The numbers without their last four digits. */
  readonly prefix: string;
  readonly refused: number;
  readonly lastAt: Date;
}

/** Refusals by the guard of codes of one session, by rule. */
export interface SessionRefusal {
  /** Name of the guard's rule. */
  readonly rule: string;
  readonly refused: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** One page, newest first. */
export interface DestinationPage {
  readonly limit: number;
  /** The last id of the previous page; null for the first page. */
  readonly startingAfter?: Uuid | null;
  /** Only rows of this account. */
  readonly accountId?: Uuid | null;
}
