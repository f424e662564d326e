import type { Uuid } from '@countersign/postgres';

/** Where a code is on its way (contract, Webhooks: `verification.otp_delivery`). */
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

/** Numbers are given out in blocks of ten thousand at least: whoever pumps traffic holds whole blocks. */
const BLOCK_DIGITS = 4;

/** The block of numbers that this one belongs to: all but its last four digits. */
export function destinationPrefix(e164: string): string {
  return e164.slice(0, -BLOCK_DIGITS);
}
