import type { Uuid } from '@countersign/ids';

/**
 * `offered` waits for a gateway; `sending` is claimed by one; `sent` was accepted by the platform, not yet delivered;
 * `refused` never reaches the phone; `unknown` may reach it; `withdrawn` was withdrawn before any gateway claimed it.
 */
export type CardState = 'offered' | 'sending' | 'sent' | 'refused' | 'unknown' | 'withdrawn';

/** Why a session gets no card; decided before anything is sent (contract, RCS in short). */
export type CardRefusal =
  'too_many_cards' | 'denied_before' | 'agent_suspended' | 'prefers_sms' | 'unreachable' | 'paused';

/** The session's channel in the response to a create. It never changes afterwards. */
export type FinalChannel = 'rcs' | 'sms_fallback';

/** A card to be offered. Brand values are copies: later edits of the brand do not change the card. */
export interface NewCard {
  /** The session's id. */
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly brandId: Uuid;
  /** The process whose create waits: outcomes of the card are published to its topic (`TOPICS.cardOutcomes`). */
  readonly originProcess: Uuid;
  readonly agentId: string;
  /** E.164. */
  readonly phone: string;
  readonly brandName: string;
  readonly logoUrl: string | null;
  readonly numberMatching: boolean;
  /** Version of the master key that the buttons are derived with; that of the session. */
  readonly keyVersion: number;
  readonly expiresAt: Date;
}

/** A card to be sent by a gateway. */
export interface Card extends NewCard {
  /** UUID version 5 (RFC 9562), deterministic per session, so that a repeated send is one card. */
  readonly messageId: string;
}

/** An older offer can no longer be claimed: the waiting create withdraws it. */
export const OFFER_LIFE_MS = 500;

/** Time limit of a send in a gateway; after it the outcome is `unknown`. */
export const SEND_LIFE_MS = 1_500;

/** The outcome of a send. A card with an `unknown` outcome may still arrive: it is not sent again, and not failed. */
export type SendOutcome =
  | { readonly kind: 'sent' }
  /** The phone has no RCS, or none for this agent. */
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'refused'; readonly because: string }
  | { readonly kind: 'unknown'; readonly because: string };

/** An outcome for a waiting create, published as a JSON list: the card was sent, or its channel is decided. */
export interface CardOutcome {
  readonly id: Uuid;
  readonly news: 'sent' | FinalChannel;
}

/** The choice of a tap. A number is one of the three that the card offered. */
export type Choice =
  { readonly kind: 'approve' } | { readonly kind: 'deny' } | { readonly kind: 'number'; readonly number: string };
