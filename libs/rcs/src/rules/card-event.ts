import { createHash } from 'node:crypto';
import { idOf, type Uuid } from '@countersign/ids';
import type { DatabaseClock } from '@countersign/postgres';
import type { Choice } from './card.js';
import type { Verdict } from './card-answers.js';

/** `expired` and `expire_failed`: the platform took a card back at its time, or could not say whether it did. */
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

/** What the platform told, as it is stored: nothing that a person wrote. */
export interface NewCardEvent {
  /** By `newCardEventId`: an event that comes again is the same row. */
  readonly id: Uuid;
  readonly kind: CardEventKind;
  /** As `plainAgentId` gives it. */
  readonly agentId: string;
  /** E.164; null for what is said of an agent. */
  readonly phone: string | null;
  /** The platform's message that this is about, where it is one of ours and a UUID. */
  readonly messageId: Uuid | null;
  /** Of a tap, by its postback. */
  readonly cardId: Uuid | null;
  readonly choice: Choice | null;
  /** Of an agent: `LAUNCHED`, `SUSPENDED`, …. */
  readonly launchState?: string | null;
  readonly occurredAt: Date;
}

/** An event that was taken to be applied. */
export interface CardEvent extends Omit<NewCardEvent, 'launchState'> {
  readonly launchState: string | null;
}

/** The first tap on a card: what it asks of the session, which may have ended before. */
export interface CardTap {
  readonly cardId: Uuid;
  readonly eventId: Uuid;
  readonly phone: string;
  readonly verdict: Verdict;
}

/** A card that was just found to have reached its phone. */
export interface CardArrival {
  readonly cardId: Uuid;
  readonly agentId: string;
  /** From the platform's answer until this was told; 0 when it was told before. */
  readonly afterMs: number;
}

const OLDEST_MS = 24 * 60 * 60 * 1000;
/** The platform's clock is not ours. */
export const FURTHEST_AHEAD_MS = 5 * 60 * 1000;
const DIGEST_OCTETS = 10;

/**
 * The id of an event: its time, then a digest of the name under which the platform does not repeat itself. A time that
 * is not to be believed, or that rows are no longer kept for, is taken as now.
 */
export function newCardEventId(occurredMs: number, name: string, clock: Pick<DatabaseClock, 'nowMs'>): Uuid {
  const nowMs = clock.nowMs();
  const believed = occurredMs >= nowMs - OLDEST_MS && occurredMs <= nowMs + FURTHEST_AHEAD_MS;
  const digest = createHash('sha256').update(name, 'utf8').digest().subarray(0, DIGEST_OCTETS);
  return idOf(believed ? Math.floor(occurredMs) : nowMs, digest);
}
