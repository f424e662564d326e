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

/** What an event came to, as it is kept. `tapped` is not the last word: the session says whether the tap came in time. */
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

/** What is to be written of one card. */
export interface CardChange {
  readonly id: Uuid;
  readonly deliveredAt: Date | null;
  readonly readAt: Date | null;
  /** Decided just now; null for a card that was settled before, or is not yet. */
  readonly settles: FinalChannel | null;
  /** There is nothing left to revoke. */
  readonly endsRevoke: boolean;
}

export interface CardJudgement {
  readonly outcomes: ReadonlyMap<Uuid, EventOutcome>;
  /** Null where nothing changes. */
  readonly change: CardChange | null;
  /** The card was found to have reached its phone just now. */
  readonly arrived: boolean;
  readonly tap: CardTap | null;
}

export type VerdictOf = (card: AnsweredCard, choice: Choice) => Verdict | null;

/** What of a card is decided while its events are gone through. */
interface Course {
  deliveredAt: Date | null;
  readAt: Date | null;
  finalChannel: FinalChannel | null;
  takenBack: boolean;
  tap: CardTap | null;
}

/**
 * What some events say of a card, in their order. They come more than once, late, and in any order: that it was
 * delivered, read or tapped each proves that it reached the phone, and outweighs that it is said to have been taken back.
 */
export function judgeCardEvents(card: LockedCard, events: readonly CardEvent[], verdictOf: VerdictOf): CardJudgement {
  const { deliveredAt, readAt, finalChannel } = card;
  const course: Course = { deliveredAt, readAt, finalChannel, takenBack: false, tap: null };
  const outcomes = new Map(events.map((event) => [event.id, judgeOne(card, course, event, verdictOf)]));
  const arrived = deliveredAt === null && course.deliveredAt !== null;
  const settles = course.finalChannel === finalChannel ? null : course.finalChannel;
  const changed = arrived || settles !== null || course.readAt !== readAt || course.takenBack;
  const change = {
    id: card.id,
    deliveredAt: course.deliveredAt,
    readAt: course.readAt,
    settles,
    endsRevoke: course.deliveredAt !== null || course.takenBack,
  };
  return { outcomes, change: changed ? change : null, arrived, tap: course.tap };
}

function judgeOne(card: LockedCard, course: Course, event: CardEvent, verdictOf: VerdictOf): EventOutcome {
  if (event.agentId !== card.agentId) return 'other_agent';
  if (event.phone !== card.phone) return 'other_phone';
  switch (event.kind) {
    case 'delivered': {
      if (course.deliveredAt !== null) return 'repeated';
      arrive(card, course, event);
      return 'delivered';
    }
    case 'read': {
      if (course.readAt !== null) return 'repeated';
      arrive(card, course, event);
      course.readAt = event.occurredAt;
      return 'read';
    }
    case 'tap':
      return judgeTap(card, course, event, verdictOf);
    case 'expired':
    case 'expire_failed':
      return judgeExpiry(course, event);
    default:
      return 'ignored';
  }
}

/** The first tap counts, and a choice that the card did not offer is none. */
function judgeTap(card: LockedCard, course: Course, event: CardEvent, verdictOf: VerdictOf): EventOutcome {
  const verdict = event.choice === null ? null : verdictOf(card, event.choice);
  if (verdict === null) return 'not_offered';
  if (card.tappedAt !== null || course.tap !== null) return 'repeated';
  arrive(card, course, event);
  course.tap = { cardId: card.id, eventId: event.id, phone: card.phone, verdict };
  return 'tapped';
}

function judgeExpiry(course: Course, { kind }: CardEvent): EventOutcome {
  if (course.deliveredAt !== null) return 'repeated';
  course.finalChannel ??= 'sms_fallback';
  // Where the platform cannot say whether it took the card back, it is still to be revoked if it was.
  if (kind === 'expire_failed') return 'inconclusive';
  course.takenBack = true;
  return 'taken_back';
}

/** A card that arrives after its session's time settles nothing as RCS any more: what was told of its end stays true. */
function arrive(card: LockedCard, course: Course, { occurredAt }: CardEvent): void {
  course.deliveredAt ??= occurredAt;
  course.finalChannel ??= card.nowMs < card.expiresAtMs ? 'rcs' : 'sms_fallback';
}
