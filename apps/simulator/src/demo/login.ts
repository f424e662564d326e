/** The fields of a verification session that this shop reads (specification 2.1). */
export interface SessionFacts {
  readonly id: string;
  readonly status: 'pending' | Verdict;
  readonly channel: 'rcs' | 'sms_fallback';
  readonly fallbackUri: string | null;
  readonly phone: string;
  readonly expiresAt: string;
  readonly latencyMs?: number | null;
  readonly matchCode?: string | undefined;
}

export type Verdict = 'approved' | 'expired' | 'denied' | 'cancelled';
/**
 * `accepted`: the session is approved and the browser that started it presented the secret (specification 4.7, step 3).
 */
export type LoginEvent = Verdict | 'accepted';
export type Phase = 'waiting' | 'approved' | 'signed_in' | 'denied' | 'expired' | 'cancelled';

const ENDED = { approved: null, accepted: null, denied: null, expired: null, cancelled: null } as const;

/** Every phase with every event: the next phase, or null for no change. */
export const NEXT: Readonly<Record<Phase, Readonly<Record<LoginEvent, Phase | null>>>> = {
  waiting: { approved: 'approved', accepted: null, denied: 'denied', expired: 'expired', cancelled: 'cancelled' },
  approved: { ...ENDED, accepted: 'signed_in' },
  signed_in: ENDED,
  denied: ENDED,
  expired: ENDED,
  cancelled: ENDED,
};

/** One attempt to sign in. Its browser knows its id; the session's id never leaves the server. */
export interface Login {
  readonly id: string;
  readonly sessionId: string;
  readonly phone: string;
  readonly channel: 'rcs' | 'sms_fallback';
  readonly fallbackUri: string | null;
  /** Two digits to choose on the card, where the brand uses number matching. */
  readonly matchCode: string | null;
  readonly startedAt: number;
  readonly expiresAt: number;
  readonly phase: Phase;
  readonly latencyMs: number | null;
  readonly code: CodeState;
}

export interface CodeState {
  readonly sends: number;
  readonly resendAt: number;
  readonly attemptsLeft: number;
  /** Whether the code approved the session. */
  readonly accepted: boolean;
}

/** Contract, OTP: sends of a session, the pause between them, wrong codes in total. */
const CODE_SENDS = 3;
const RESEND_AFTER_MS = 30_000;
const CODE_ATTEMPTS = 5;
/** Time after its deadline after which a session that could not be polled counts as expired. */
const OVERDUE_MS = 15_000;

export function openLogin(id: string, session: SessionFacts, now: number): Login {
  const opened: Login = {
    id,
    sessionId: session.id,
    phone: session.phone,
    channel: session.channel,
    fallbackUri: session.fallbackUri,
    matchCode: session.matchCode ?? null,
    startedAt: now,
    expiresAt: Date.parse(session.expiresAt),
    phase: 'waiting',
    latencyMs: null,
    code: { sends: 0, resendAt: 0, attemptsLeft: CODE_ATTEMPTS, accepted: false },
  };
  return applySession(opened, session);
}

/** Returns the same login when the event changes nothing. */
export function decide(login: Login, event: LoginEvent): Login {
  const phase = NEXT[login.phase][event];
  return phase === null ? login : { ...login, phase };
}

/** Applies the session of a webhook or a poll. */
export function applySession(login: Login, session: Pick<SessionFacts, 'status' | 'latencyMs'>): Login {
  if (session.status === 'pending') return login;
  const decided = decide(login, session.status);
  return decided === login ? login : { ...decided, latencyMs: session.latencyMs ?? null };
}

export function codeSent(login: Login, now: number): Login {
  const { code } = login;
  return { ...login, code: { ...code, sends: code.sends + 1, resendAt: now + RESEND_AFTER_MS } };
}

/** A send was refused for a while: the next one is offered after that time. */
export function codeWaits(login: Login, until: number): Login {
  return { ...login, code: { ...login.code, resendAt: Math.max(login.code.resendAt, until) } };
}

export function codeWrong(login: Login, attemptsLeft: number): Login {
  return { ...login, code: { ...login.code, attemptsLeft } };
}

export function codeAccepted(login: Login): Login {
  const approved = decide(login, 'approved');
  return approved === login ? login : { ...approved, code: { ...login.code, accepted: true } };
}

export function isOverdue(login: Login, now: number): boolean {
  return login.phase === 'waiting' && now > login.expiresAt + OVERDUE_MS;
}

/**
 * The rule of specification 4.7, step 3, over the session as just fetched (null: it does not exist any more). Only an
 * approved session with the secret that it was opened with signs in.
 */
export function judge(session: Pick<SessionFacts, 'status'> | null, secretMatches: boolean): Judgement {
  if (session === null) return 'expired';
  if (session.status !== 'approved') return session.status;
  return secretMatches ? 'accepted' : 'other_browser';
}

export type Judgement = LoginEvent | 'pending' | 'other_browser';

/** The login as shown to the browser. Times are spans, because the browser's clock may differ. */
export interface LoginView {
  readonly id: string;
  readonly phase: Phase;
  readonly phone: string;
  readonly channel: 'rcs' | 'sms_fallback';
  readonly fallbackUri: string | null;
  readonly matchCode: string | null;
  readonly ttlMs: number;
  readonly expiresInMs: number;
  readonly latencyMs: number | null;
  readonly code: {
    readonly sent: boolean;
    readonly sendsLeft: number;
    readonly resendInMs: number;
    readonly attemptsLeft: number;
    readonly accepted: boolean;
  };
}

export function viewOf(login: Login, now: number): LoginView {
  const { id, phase, phone, channel, fallbackUri, matchCode, latencyMs, code } = login;
  return {
    id,
    phase,
    phone,
    channel,
    fallbackUri: phase === 'waiting' ? fallbackUri : null,
    matchCode: phase === 'waiting' ? matchCode : null,
    ttlMs: login.expiresAt - login.startedAt,
    expiresInMs: Math.max(0, login.expiresAt - now),
    latencyMs,
    code: {
      sent: code.sends > 0,
      sendsLeft: Math.max(0, CODE_SENDS - code.sends),
      resendInMs: Math.max(0, code.resendAt - now),
      attemptsLeft: code.attemptsLeft,
      accepted: code.accepted,
    },
  };
}
