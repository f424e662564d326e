import { createHash } from 'node:crypto';
import { idOf, type Uuid } from '@countersign/ids';
import type { DatabaseClock } from '@countersign/postgres';
import type { Choice } from './card.js';
import type { Verdict } from './card-answers.js';

/** `expired` and `expire_failed`: the platform revoked a card at its expiry, or does not know whether it did. */
export type CardEventKind =
  | 'delivered'
  | 'read'
  | 'tap'
  | 'typing'
  | 'subscribed'
  | 'unsubscribed'
  | 'expired'
  | 'expire_failed'
  | 'text'
  | 'agent'
  | 'other';

/** An event of the platform to be stored. It has no text that a person wrote. */
export interface NewCardEvent {
  /** By `newCardEventId`: a repeated event is the same row. */
  readonly id: Uuid;
  readonly kind: CardEventKind;
  /** In the form of `plainAgentId`. */
  readonly agentId: string;
  /** E.164; null for events of an agent. */
  readonly phone: string | null;
  /** The message id of one of our messages, if it is a UUID. */
  readonly messageId: Uuid | null;
  /** For a tap, from its postback. */
  readonly cardId: Uuid | null;
  readonly choice: Choice | null;
  /** For an agent event: `LAUNCHED`, `SUSPENDED`, …. */
  readonly launchState?: string | null;
  readonly occurredAt: Date;
}

/** A stored event to be applied. */
export interface CardEvent extends Omit<NewCardEvent, 'launchState'> {
  readonly launchState: string | null;
}

/** The first tap on a card, and its verdict on the session, which may have ended before. */
export interface CardTap {
  readonly cardId: Uuid;
  readonly eventId: Uuid;
  readonly phone: string;
  readonly verdict: Verdict;
}

/** A card that is now known to have reached its phone. */
export interface CardArrival {
  readonly cardId: Uuid;
  readonly agentId: string;
  /** From the platform's response to the send until this event; 0 when the event came first. */
  readonly afterMs: number;
}

const OLDEST_MS = 24 * 60 * 60 * 1000;
/** Tolerance for the platform's clock. */
export const FURTHEST_AHEAD_MS = 5 * 60 * 1000;
const DIGEST_OCTETS = 10;

/**
 * The id of an event: its time, then a digest of the event's name, which is unique on the platform. An implausible time, or
 * one older than the stored rows, is replaced by now.
 */
export function newCardEventId(occurredMs: number, name: string, clock: Pick<DatabaseClock, 'nowMs'>): Uuid {
  const nowMs = clock.nowMs();
  const believed = occurredMs >= nowMs - OLDEST_MS && occurredMs <= nowMs + FURTHEST_AHEAD_MS;
  const digest = createHash('sha256').update(name, 'utf8').digest().subarray(0, DIGEST_OCTETS);
  return idOf(believed ? Math.floor(occurredMs) : nowMs, digest);
}
