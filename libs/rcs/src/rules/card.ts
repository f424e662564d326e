import type { Uuid } from '@countersign/ids';

/**
 * `offered` waits for a gateway; `sending` is on its way to the platform; `sent` was taken by it, which is not yet
 * delivered; `refused` never reaches the phone; `unknown` may; `withdrawn` was taken back before anyone sent it.
 */
export type CardState = 'offered' | 'sending' | 'sent' | 'refused' | 'unknown' | 'withdrawn';

/** Why a session gets no card, before anything is sent (contract, RCS in short). */
export type CardRefusal =
  'too_many_cards' | 'denied_before' | 'agent_suspended' | 'prefers_sms' | 'unreachable' | 'paused';

/** What the caller of a create is told: the session's channel, once and for all. */
export type FinalChannel = 'rcs' | 'sms_fallback';

/** A card that a session would like to send. Copied from the brand now: later edits change nothing for it. */
export interface NewCard {
  /** The session's id is the card's. */
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly brandId: Uuid;
  /** The process that holds the create back: news of the card go to its topic (`cardTopic`). */
  readonly waiter: Uuid;
  readonly agentId: string;
  /** E.164. */
  readonly phone: string;
  readonly brandName: string;
  readonly logoUrl: string | null;
  readonly numberMatching: boolean;
  /** Version of the master key that its buttons are derived with: the session's. */
  readonly keyVersion: number;
  readonly expiresAt: Date;
}

/** A card as a gateway sends it. */
export interface Card extends NewCard {
  /** RFC 9562 UUID, version 5: of one session always the same, so that a repeated send is one card. */
  readonly messageId: string;
}

/** An offer that is older is no longer taken: whoever waits takes it back. */
export const OFFER_LIFE_MS = 500;

/** A send in all: a gateway gives it up then, and what became of it is unknown. */
export const SEND_LIFE_MS = 1_500;

/** What became of a send. `unknown` may still arrive: it is neither sent again nor called failed. */
export type SendOutcome =
  | { readonly kind: 'sent' }
  /** The phone has no RCS, or not for this agent. */
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'refused'; readonly because: string }
  | { readonly kind: 'unknown'; readonly because: string };

/** What a waiting create hears, as JSON of a list: the card went out, its channel is decided. */
export interface CardOutcome {
  readonly id: Uuid;
  readonly news: 'sent' | FinalChannel;
}

/**
 * The bus topic on which every gateway hears of cards that were offered just now: a list of their ids. It is the quick one
 * of two hints; the bell, which one gateway hears, rings for what this one did not bring on its way.
 */
export const OFFERS_TOPIC = 'cards:offered';

/** The bus topic of one waiting process. */
export const cardTopic = (waiter: Uuid): string => `cards:${waiter}`;

/** What a tap says. A number is one of the three that the card offered. */
export type Choice =
  { readonly kind: 'approve' } | { readonly kind: 'deny' } | { readonly kind: 'number'; readonly number: string };
