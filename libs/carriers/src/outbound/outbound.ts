import type { Uuid } from '@countersign/ids';
import type { BindLease } from '../leases/bind-lease.js';

/** How far a code has come. */
export const OUTBOUND_STATES = ['queued', 'sending', 'submitted', 'delivered', 'undelivered', 'failed'] as const;
export type OutboundState = (typeof OUTBOUND_STATES)[number];

/** A code about to be queued, in the transaction that makes it valid. */
export interface NewOutboundMessage {
  readonly id: Uuid;
  readonly sessionId: Uuid;
  readonly accountId: Uuid;
  /** Of a test key: it never leaves the building. */
  readonly test: boolean;
  /** E.164. */
  readonly destination: string;
  /** ISO 3166-1 alpha-2, or `001`. */
  readonly country: string;
  /** What stands as the sender where the route names none: E.164, a short code, or up to 11 letters and digits. */
  readonly sender: string;
  /** The text, sealed under `message-text` with the message's id as context. */
  readonly textSealed: Uint8Array;
  readonly createdAt: Date;
  /** With the session: nothing is sent from then on. */
  readonly expiresAt: Date;
}

/** A message whose time has come, locked until it is decided what becomes of it. */
export interface DueMessage {
  readonly id: Uuid;
  readonly sessionId: Uuid;
  readonly destination: string;
  readonly sender: string;
  readonly textSealed: Buffer;
  readonly expiresAt: Date;
  /** Attempts made. */
  readonly attempts: number;
  /** Attempts of which nobody knows whether they reached the phone. */
  readonly unknownFates: number;
  /** Routes that refused it for good. */
  readonly refusedRoutes: readonly Uuid[];
  /** Routes that asked for time, since all of them were last tried. */
  readonly busyRoutes: readonly Uuid[];
  /** Why the last attempt came to nothing. */
  readonly networkError: string | null;
  /** By the database's clock, under the lock. */
  readonly now: Date;
  /** Whether the session is pending and not over. */
  readonly sessionLive: boolean;
}

/** One attempt: which way, and how long it may take before it counts as lost. */
export interface PlannedAttempt {
  readonly kind: 'send';
  readonly routeId: Uuid;
  readonly bindId: Uuid;
  readonly carrier: string;
  /** The sender that the phone shows. */
  readonly source: string;
  readonly leaseSeconds: number;
  /** The connection that it goes by; without this lease nothing is claimed, nor recorded but that nothing was sent. */
  readonly lease: BindLease;
}

/** What becomes of a due message. */
export type DeliveryPlan =
  | PlannedAttempt
  /** `afresh`: routes that asked for time are asked again. `elsewhere`: another gateway is to take it. */
  | { readonly kind: 'wait'; readonly ms: number; readonly afresh: boolean; readonly elsewhere: boolean }
  | { readonly kind: 'fail'; readonly error: string };

/** A message that is ours to send, once. */
export interface ClaimedMessage {
  readonly message: DueMessage;
  readonly plan: PlannedAttempt;
  /** Which attempt this is, from 1; what came of it is recorded with it. */
  readonly attempt: number;
}

/** What came of an attempt. */
export type AttemptOutcome =
  /** `receiptId`: how its receipt will spell the carrier's id (see `receiptIdOf`). */
  | { readonly kind: 'submitted'; readonly smscMessageId: string | null; readonly receiptId: string | null }
  /** `busy`: the route may be asked again later. `refused`: it may not. `unknown`: the phone may have it, or not. */
  | { readonly kind: 'busy' | 'refused' | 'unknown'; readonly error: string };

/** A final receipt of a carrier. */
export interface ReceiptNote {
  readonly carrier: string;
  readonly smscMessageId: string;
  readonly state: 'delivered' | 'undelivered';
  readonly networkError: string | null;
}

/** `parked`: whose it is may still be told, since receipts overtake responses. `late`: its message was final, or taken back. */
export type ReceiptFate = 'settled' | 'parked' | 'late';

/** Numbers are given out in blocks of ten thousand at least: whoever pumps traffic holds whole blocks. */
const BLOCK_DIGITS = 4;

/** The block of numbers that this one belongs to: all but its last four digits. */
export function destinationPrefix(e164: string): string {
  return e164.slice(0, -BLOCK_DIGITS);
}
