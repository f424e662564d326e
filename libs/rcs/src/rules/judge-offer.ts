import { idTimeMs, type Uuid } from '@countersign/ids';
import type { CardRefusal } from './card.js';

/** Cards that a phone gets at most within ten minutes, whoever sends them. */
export const MAX_RECENT_CARDS = 3;
export const RECENT_CARDS_MS = 600_000;
/** Two denials no further apart than this keep cards away for as long, counted from the second. */
export const COOL_DOWN_MS = 3_600_000;

/** What is known before a card is offered. */
export interface OfferStanding {
  /** Engineers hold cards back. */
  readonly paused: boolean;
  /** The platform has suspended the agent. */
  readonly suspended: boolean;
  /** The phone asked this agent to stop. */
  readonly prefersSms: boolean;
  /** When the platform last said that the agent cannot reach the phone; null for never. */
  readonly unreachableAtMs: number | null;
  /** The latest cards of the phone, by their ids. */
  readonly recent: readonly Uuid[];
  /** When the phone denied, oldest first. */
  readonly denialsMs: readonly number[];
}

/** Why this card is not sent; null when it may be. */
export function judgeOffer(standing: OfferStanding, unreachableMs: number, nowMs: number): CardRefusal | null {
  if (standing.paused) return 'paused';
  if (standing.suspended) return 'agent_suspended';
  if (standing.prefersSms) return 'prefers_sms';
  const { unreachableAtMs } = standing;
  if (unreachableAtMs !== null && nowMs < unreachableAtMs + unreachableMs) return 'unreachable';
  if (coolsDown(standing.denialsMs, nowMs)) return 'denied_before';
  return recentCards(standing.recent, nowMs).length >= MAX_RECENT_CARDS ? 'too_many_cards' : null;
}

/** The cards that still count against a phone. */
export function recentCards(ids: readonly Uuid[], nowMs: number): readonly Uuid[] {
  return ids.filter((id) => idTimeMs(id) > nowMs - RECENT_CARDS_MS);
}

function coolsDown(denialsMs: readonly number[], nowMs: number): boolean {
  const [before, last] = denialsMs.slice(-2);
  if (before === undefined || last === undefined) return false;
  return last - before <= COOL_DOWN_MS && nowMs < last + COOL_DOWN_MS;
}
