import type { Uuid } from '@countersign/ids';

/** What became of an MO (contract, MO matching). */
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

/** An MO to be stored with its fate. */
export interface NewInboundMessage {
  /** Made before the first attempt to store it, so that a second one changes nothing. */
  readonly id: Uuid;
  readonly carrier: string;
  /** The bind or the system that it came by. */
  readonly linkId: Uuid;
  /** The sender's address as the carrier wrote it. */
  readonly source: string;
  readonly sourceTon: number;
  readonly sourceNpi: number;
  readonly destination: string;
  readonly dataCoding: number;
  /** The decoded text, sealed under `message-text` with the message's id as context. */
  readonly textSealed: Uint8Array;
  /** Which part of how many; null for a message on its own. */
  readonly part: { readonly number: number; readonly total: number } | null;
  readonly fate: MessageFate;
  readonly sessionId: Uuid | null;
  readonly accountId: Uuid | null;
}
