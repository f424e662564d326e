import type { Uuid } from '@countersign/ids';
import type { SendingLink } from '../leases/sending-link.js';
import type { SubmitOptions } from '../submit-options/index.js';

/** States of an outbound code. */
export const OUTBOUND_STATES = ['queued', 'sending', 'submitted', 'delivered', 'undelivered', 'failed'] as const;
export type OutboundState = (typeof OUTBOUND_STATES)[number];

/** A code to queue, in the transaction that makes it valid. */
export interface NewOutboundMessage {
  readonly id: Uuid;
  readonly sessionId: Uuid;
  readonly accountId: Uuid;
  /** Of a test key: it is never sent to a carrier. */
  readonly test: boolean;
  /** E.164. */
  readonly destination: string;
  /** ISO 3166-1 alpha-2, or `001`. */
  readonly country: string;
  /** The sender for routes without one: E.164, a short code, or up to 11 letters and digits. */
  readonly sender: string;
  /** The text, sealed under `message-text` with the message's id as context. */
  readonly textSealed: Uint8Array;
  readonly createdAt: Date;
  /** End of the session: nothing is sent from then on. */
  readonly expiresAt: Date;
}

/** A due message, locked until its plan is written. */
export interface DueMessage {
  readonly id: Uuid;
  readonly sessionId: Uuid;
  readonly accountId: Uuid;
  readonly destination: string;
  readonly sender: string;
  readonly textSealed: Buffer;
  readonly expiresAt: Date;
  /** Attempts made. */
  readonly attempts: number;
  /** Attempts with an unknown outcome. */
  readonly unknownFates: number;
  /** Routes that refused it permanently. */
  readonly refusedRoutes: readonly Uuid[];
  /** Routes that answered busy since all of them were last tried. */
  readonly busyRoutes: readonly Uuid[];
  /** The error of the last attempt. */
  readonly networkError: string | null;
  /** The database's clock, read under the lock. */
  readonly now: Date;
  /** The name of the session's brand; empty for an unknown session. */
  readonly brand: string;
  /** Whether the session is pending and not expired. */
  readonly sessionLive: boolean;
}

/** One attempt: its route, and how long it may take before it counts as lost. */
export interface PlannedAttempt {
  readonly kind: 'send';
  readonly routeId: Uuid;
  readonly carrier: string;
  /** The sender shown on the phone. */
  readonly source: string;
  readonly leaseSeconds: number;
  /** Those of the route: each key replaces that of the bind. */
  readonly submitOptions: SubmitOptions;
  /**
   * The connection of a bind, or the system, that it is sent over. Over a bind, claims and outcomes are written only while the lease is held, except `busy`
   * outcomes (nothing was sent).
   */
  readonly link: SendingLink;
}

/** The decision on a due message. */
export type MtPlan =
  | PlannedAttempt
  /** `afresh`: busy routes may be tried again. `elsewhere`: another gateway should send it. */
  | { readonly kind: 'wait'; readonly ms: number; readonly afresh: boolean; readonly elsewhere: boolean }
  | { readonly kind: 'fail'; readonly error: string };

/** A message claimed for one attempt. */
export interface ClaimedMessage {
  readonly message: DueMessage;
  readonly plan: PlannedAttempt;
  /** Number of this attempt, from 1; its outcome is recorded with it. */
  readonly attempt: number;
}

/** The outcome of an attempt. */
export type AttemptOutcome =
  /** `receiptId`: the carrier's id as spelled in the receipt (see `receiptIdOf`). */
  | { readonly kind: 'submitted'; readonly smscMessageId: string | null; readonly receiptId: string | null }
  /**
   * `busy`: the route may be tried later. `refused`: it may not. `unknown`: the message may or may not have been
   * delivered.
   */
  | { readonly kind: 'busy' | 'refused' | 'unknown'; readonly error: string };

/** A final receipt of a carrier. */
export interface ReceiptRecord {
  readonly carrier: string;
  readonly smscMessageId: string;
  readonly state: 'delivered' | 'undelivered';
  readonly networkError: string | null;
  /** Whether to store nothing if its message is not known, since its sender has named too many unknown ids. */
  readonly knownOnly?: boolean;
}

/**
 * `parked`: its message is not known yet, since receipts may precede responses. `refused`: the same, but it was not stored
 * (`knownOnly`). `late`: its message had ended, or was requeued.
 */
export type ReceiptResult = 'settled' | 'parked' | 'refused' | 'late';

/** Numbers are assigned in blocks of at least ten thousand: traffic pumpers own whole blocks. */
const BLOCK_DIGITS = 4;

/** The block of numbers to which a number belongs: all but its last four digits. */
export function destinationPrefix(e164: string): string {
  return e164.slice(0, -BLOCK_DIGITS);
}
