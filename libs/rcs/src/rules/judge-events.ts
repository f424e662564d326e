import type { Uuid } from '@countersign/ids';
import type { Choice, FinalChannel } from './card.js';
import type { CardEvent, CardTap } from './card-event.js';
import type { AnsweredCard, Verdict } from './card-answers.js';

/** A card under its lock. */
export interface LockedCard extends AnsweredCard {
  readonly agentId: string;
  readonly phone: string;
  readonly expiresAtMs: number;
  readonly deliveredAt: Date | null;
  readonly readAt: Date | null;
  readonly tappedAt: Date | null;
  readonly finalChannel: FinalChannel | null;
  /** The database's clock after the lock. */
  readonly nowMs: number;
}

/** The stored outcome of an event. `tapped` is provisional: the session decides whether the tap came in time. */
export type EventOutcome =
  | 'delivered'
  | 'read'
  | 'tapped'
  | 'taken_back'
  | 'inconclusive'
  | 'noted'
  | 'repeated'
  | 'unknown_card'
  | 'other_agent'
  | 'other_phone'
  | 'not_offered'
  | 'ignored';

/** The update of one card. */
export interface CardChange {
  readonly id: Uuid;
  readonly deliveredAt: Date | null;
  readonly readAt: Date | null;
  /** The channel decided by these events; null for a card that was settled before or is not settled yet. */
  readonly settles: FinalChannel | null;
  /** A due revoke is dropped. */
  readonly endsRevoke: boolean;
}

export interface CardJudgement {
  readonly outcomes: ReadonlyMap<Uuid, EventOutcome>;
  /** Null when nothing changes. */
  readonly change: CardChange | null;
  /** These events are the first to prove that the card reached its phone. */
  readonly arrived: boolean;
  readonly tap: CardTap | null;
}

export type VerdictOf = (card: AnsweredCard, choice: Choice) => Verdict | null;

/** The state of a card while its events are applied. */
interface CardProgress {
  deliveredAt: Date | null;
  readAt: Date | null;
  finalChannel: FinalChannel | null;
  revoked: boolean;
  tap: CardTap | null;
}

/**
 * Applies events to a card, in list order. Events may be repeated, late and out of order: delivered, read and tap events
 * each prove that the card reached its phone, and take precedence over `expired`.
 */
export function judgeCardEvents(card: LockedCard, events: readonly CardEvent[], verdictOf: VerdictOf): CardJudgement {
  const { deliveredAt, readAt, finalChannel } = card;
  const progress: CardProgress = { deliveredAt, readAt, finalChannel, revoked: false, tap: null };
  const outcomes = new Map(events.map((event) => [event.id, judgeEvent(card, progress, event, verdictOf)]));
  const arrived = deliveredAt === null && progress.deliveredAt !== null;
  const settles = progress.finalChannel === finalChannel ? null : progress.finalChannel;
  const changed = arrived || settles !== null || progress.readAt !== readAt || progress.revoked;
  const change = {
    id: card.id,
    deliveredAt: progress.deliveredAt,
    readAt: progress.readAt,
    settles,
    endsRevoke: progress.deliveredAt !== null || progress.revoked,
  };
  return { outcomes, change: changed ? change : null, arrived, tap: progress.tap };
}

function judgeEvent(card: LockedCard, progress: CardProgress, event: CardEvent, verdictOf: VerdictOf): EventOutcome {
  if (event.agentId !== card.agentId) return 'other_agent';
  if (event.phone !== card.phone) return 'other_phone';
  switch (event.kind) {
    case 'delivered': {
      if (progress.deliveredAt !== null) return 'repeated';
      markDelivered(card, progress, event);
      return 'delivered';
    }
    case 'read': {
      if (progress.readAt !== null) return 'repeated';
      markDelivered(card, progress, event);
      progress.readAt = event.occurredAt;
      return 'read';
    }
    case 'tap':
      return judgeTap(card, progress, event, verdictOf);
    case 'expired':
    case 'expire_failed':
      return judgeExpiry(progress, event);
    default:
      return 'ignored';
  }
}

/** The first tap counts; a choice that the card did not offer is ignored. */
function judgeTap(card: LockedCard, progress: CardProgress, event: CardEvent, verdictOf: VerdictOf): EventOutcome {
  const verdict = event.choice === null ? null : verdictOf(card, event.choice);
  if (verdict === null) return 'not_offered';
  if (card.tappedAt !== null || progress.tap !== null) return 'repeated';
  markDelivered(card, progress, event);
  progress.tap = { cardId: card.id, eventId: event.id, phone: card.phone, verdict };
  return 'tapped';
}

function judgeExpiry(progress: CardProgress, { kind }: CardEvent): EventOutcome {
  if (progress.deliveredAt !== null) return 'repeated';
  progress.finalChannel ??= 'sms_fallback';
  // The platform does not know whether it revoked the card: a due revoke stays.
  if (kind === 'expire_failed') return 'inconclusive';
  progress.revoked = true;
  return 'taken_back';
}

/** A card that arrives after its session's expiry is not settled as `rcs`: the published end of the session stays true. */
function markDelivered(card: LockedCard, progress: CardProgress, { occurredAt }: CardEvent): void {
  progress.deliveredAt ??= occurredAt;
  progress.finalChannel ??= card.nowMs < card.expiresAtMs ? 'rcs' : 'sms_fallback';
}
