import type { Uuid } from '@countersign/ids';

/** Results of an MO (contract, MO matching). */
export const MESSAGE_FATES = [
  'matched',
  'duplicate',
  'wrong_sender',
  'unknown_token',
  'expired',
  'ended',
  'no_token',
  'untrusted',
  'ambiguous_sender',
] as const;
export type MessageFate = (typeof MESSAGE_FATES)[number];

/** An MO to store with its fate. */
export interface NewInboundMessage {
  /** Created before the first attempt to store it, so that a second attempt changes nothing. */
  readonly id: Uuid;
  readonly carrier: string;
  /** The bind or system that delivered it. */
  readonly linkId: Uuid;
  /** The sender's address as written by the carrier. */
  readonly source: string;
  readonly sourceTon: number;
  readonly sourceNpi: number;
  readonly destination: string;
  readonly dataCoding: number;
  /** The decoded text, sealed under `message-text` with the message's id as context. */
  readonly textSealed: Uint8Array;
  /** Part number and total; null for a single message. */
  readonly part: { readonly number: number; readonly total: number } | null;
  readonly fate: MessageFate;
  readonly sessionId: Uuid | null;
  readonly accountId: Uuid | null;
}
