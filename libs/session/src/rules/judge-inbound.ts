import type { Uuid } from '@countersign/ids';
import type { ApprovedBy, SessionStatus } from './session.js';
import { transition, type RefusalReason } from './transition.js';

/** What became of an inbound SMS (contract, MO matching). Only `matched` approved a session. */
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

/** A message's fate, and the session it speaks of where its token is known. */
export interface InboundVerdict {
  readonly fate: Fate;
  readonly sessionId: Uuid | null;
  readonly accountId: Uuid | null;
}

/** What the judge needs to know of one message. */
export interface InboundCase {
  /** Digests of the message's tokens, as hex, in the order of its text; a token has one for each version of the master key. */
  readonly digests: readonly string[];
  /** E.164 numbers that its sender may be. */
  readonly senders: readonly string[];
  /** Whether its sender may be two different numbers, so that it is evidence for neither and `senders` is empty. Default: false. */
  readonly ambiguousSender?: boolean;
  /** Whether the bind or system it came by is trusted for MO. */
  readonly trusted: boolean;
}

/** A session row as read under its lock, with the clock as read after the lock. */
export interface LockedSession {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly phone: string;
  readonly status: SessionStatus;
  readonly approvedBy: ApprovedBy | null;
  readonly expiresAtMs: number;
  readonly nowMs: number;
  /** Whether the event of a wrong sender was already written. */
  readonly mismatchSeen: boolean;
}

/** The verdict of each message in their order, and what is to be written. */
export interface Judgement {
  readonly verdicts: readonly InboundVerdict[];
  readonly approve: readonly Uuid[];
  /** Live sessions that saw their first wrong sender. */
  readonly mismatch: readonly Uuid[];
}

/** With several tokens in one message, the first of these that one of them reached is the message's fate. */
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
 * Judges messages in the order they came: the first that matches a session approves it, and those behind it in the same
 * batch meet an approved session. Pure; the caller writes what it returns under the locks it holds.
 *
 * @param sessions by token digest, as hex
 */
export function judgeInbound(cases: readonly InboundCase[], sessions: ReadonlyMap<string, LockedSession>): Judgement {
  const bench = new Bench(sessions);
  const verdicts = cases.map((inbound) => bench.judge(inbound));
  return { verdicts, approve: [...bench.approved], mismatch: [...bench.mismatched] };
}

/** The sessions as they would stand after the messages judged so far. */
class Bench {
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
      // One SMS approves one session; its other tokens are not acted upon.
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
