import { idTimeMs, type Uuid } from '@countersign/ids';
import type { CardRefusal } from './card.js';

/** Maximum number of cards per phone within ten minutes, of all accounts together. */
export const MAX_RECENT_CARDS = 3;
export const RECENT_CARDS_MS = 600_000;
/** Two denials within this time block further cards for the same time after the second. */
export const COOL_DOWN_MS = 3_600_000;
/** Cards and denials whose time is more than this in the future do not count: no process writes such a time. */
const CLOCK_SLACK_MS = 60_000;

/** The facts that an offer is judged by. */
export interface OfferStanding {
  /** An engineer paused the card queue. */
  readonly paused: boolean;
  /** The platform has suspended the agent. */
  readonly suspended: boolean;
  /** The phone unsubscribed from this agent. */
  readonly prefersSms: boolean;
  /** When the platform last reported that the agent cannot reach the phone; null for never. */
  readonly unreachableAtMs: number | null;
  /** Ids of the latest cards of the phone. */
  readonly recent: readonly Uuid[];
  /** Times of the phone's denials, oldest first. */
  readonly denialsMs: readonly number[];
}

/** The reason against the offer; null when the card may be sent. */
export function judgeOffer(standing: OfferStanding, unreachableMs: number, nowMs: number): CardRefusal | null {
  if (standing.paused) return 'paused';
  if (standing.suspended) return 'agent_suspended';
  if (standing.prefersSms) return 'prefers_sms';
  const { unreachableAtMs } = standing;
  if (unreachableAtMs !== null && nowMs < unreachableAtMs + unreachableMs) return 'unreachable';
  if (isCoolingDown(standing.denialsMs, nowMs)) return 'denied_before';
  return recentCards(standing.recent, nowMs).length >= MAX_RECENT_CARDS ? 'too_many_cards' : null;
}

/** The cards that still count against the phone's limit. */
export function recentCards(ids: readonly Uuid[], nowMs: number): readonly Uuid[] {
  return ids.filter((id) => idTimeMs(id) > nowMs - RECENT_CARDS_MS && idTimeMs(id) < nowMs + CLOCK_SLACK_MS);
}

function isCoolingDown(denialsMs: readonly number[], nowMs: number): boolean {
  const [previous, last] = denialsMs.filter((atMs) => atMs < nowMs + CLOCK_SLACK_MS).slice(-2);
  if (previous === undefined || last === undefined) return false;
  return last - previous <= COOL_DOWN_MS && nowMs < last + COOL_DOWN_MS;
}
