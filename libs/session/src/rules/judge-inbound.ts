import type { Uuid } from '@countersign/ids';
import type { ApprovedBy, SessionStatus } from './session.js';
import { transition, type RefusalReason } from './transition.js';

/** Result of an inbound SMS (contract, MO matching). Only `matched` approved a session. */
export type Fate =
  | 'matched'
  | 'duplicate'
  | 'wrong_sender'
  | 'unknown_token'
  | 'expired'
  | 'ended'
  | 'no_token'
  | 'untrusted'
  | 'ambiguous_sender';

/** The fate of a message, and the session of its token if the token is known. */
export interface InboundVerdict {
  readonly fate: Fate;
  readonly sessionId: Uuid | null;
  readonly accountId: Uuid | null;
}

/** The input of the rules for one message. */
export interface InboundCase {
  /** Hex digests of the message's tokens, in text order; a token has one for each version of the master key. */
  readonly digests: readonly string[];
  /** E.164 numbers that the sender may be. */
  readonly senders: readonly string[];
  /**
   * Whether the sender may be two different numbers, so that it is evidence for neither and `senders` is empty.
   * Default: false.
   */
  readonly ambiguousSender?: boolean;
  /** Whether the bind or system that delivered the message is trusted for MO. */
  readonly trusted: boolean;
}

/** A session row read under its lock, with the clock read after the lock. */
export interface LockedSession {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly phone: string;
  readonly status: SessionStatus;
  readonly approvedBy: ApprovedBy | null;
  readonly expiresAtMs: number;
  readonly nowMs: number;
  /** Whether the sender_mismatch event was already written. */
  readonly mismatchSeen: boolean;
}

/** The verdict of each message in order, and the changes to write. */
export interface Judgement {
  readonly verdicts: readonly InboundVerdict[];
  readonly approve: readonly Uuid[];
  /** Live sessions that received their first SMS from a wrong sender. */
  readonly mismatch: readonly Uuid[];
}

/** Precedence for a message with several tokens: its fate is the first of these that one of its tokens has. */
const BEST_FIRST: readonly Fate[] = [
  'matched',
  'duplicate',
  'ended',
  'expired',
  'ambiguous_sender',
  'wrong_sender',
  'unknown_token',
];

/**
 * Judges messages in order of arrival: the first match approves its session; later messages of the same batch see an
 * approved session. Pure; the caller writes the result under the locks that it holds.
 *
 * @param sessions by hex token digest
 */
export function judgeInbound(cases: readonly InboundCase[], sessions: ReadonlyMap<string, LockedSession>): Judgement {
  const batch = new BatchJudge(sessions);
  const verdicts = cases.map((inbound) => batch.judge(inbound));
  return { verdicts, approve: [...batch.approved], mismatch: [...batch.mismatched] };
}

/** The sessions' state after the messages judged so far. */
class BatchJudge {
  readonly approved = new Set<Uuid>();
  readonly mismatched = new Set<Uuid>();

  constructor(private readonly sessions: ReadonlyMap<string, LockedSession>) {}

  judge(inbound: InboundCase): InboundVerdict {
    if (inbound.digests.length === 0) return verdict('no_token');
    if (!inbound.trusted) return verdict('untrusted');
    const reached: InboundVerdict[] = [];
    for (const digest of inbound.digests) {
      const outcome = this.judgeToken(this.sessions.get(digest), inbound);
      reached.push(outcome);
      // One SMS approves one session; its other tokens are ignored.
      if (outcome.fate === 'matched') break;
    }
    return best(reached);
  }

  private judgeToken(session: LockedSession | undefined, inbound: InboundCase): InboundVerdict {
    if (session === undefined) return verdict('unknown_token');
    return { fate: this.judgeSender(session, inbound), sessionId: session.id, accountId: session.accountId };
  }

  /**
   * An ambiguous sender is checked before the state of the session, as a wrong sender is: the fate must not depend on the
   * session of a phone that may not be the sender's. There is no mismatch event, because the sender may be that phone.
   */
  private judgeSender(session: LockedSession, { senders, ambiguousSender = false }: InboundCase): Fate {
    if (ambiguousSender) return 'ambiguous_sender';
    return senders.includes(session.phone) ? this.approve(session) : this.refuseSender(session);
  }

  private approve(session: LockedSession): Fate {
    if (this.approved.has(session.id)) return 'duplicate';
    const outcome = transition(session, 'approve', session.nowMs);
    if (outcome.kind === 'refuse') return refusedFate(outcome.because, session.approvedBy);
    this.approved.add(session.id);
    return 'matched';
  }

  private refuseSender(session: LockedSession): Fate {
    const live = transition(session, 'approve', session.nowMs).kind === 'move' && !this.approved.has(session.id);
    if (live && !session.mismatchSeen) this.mismatched.add(session.id);
    return 'wrong_sender';
  }
}

function refusedFate(because: RefusalReason, approvedBy: ApprovedBy | null): Fate {
  if (because === 'approved') return approvedBy === 'mo' ? 'duplicate' : 'ended';
  return because === 'expired' ? 'expired' : 'ended';
}

function verdict(fate: Fate): InboundVerdict {
  return { fate, sessionId: null, accountId: null };
}

function best(reached: readonly InboundVerdict[]): InboundVerdict {
  for (const fate of BEST_FIRST) {
    const found = reached.find((outcome) => outcome.fate === fate);
    if (found !== undefined) return found;
  }
  return verdict('no_token');
}
