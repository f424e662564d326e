import { isObject, isText, isTextOrNull } from './fields.js';

export type SessionStatus = 'pending' | 'approved' | 'expired' | 'denied' | 'cancelled';
export type Channel = 'rcs' | 'sms_fallback';

/** Fields of every session (specification 2.1). Times are RFC 3339 in UTC, to the millisecond. */
interface SessionFields {
  readonly id: string;
  readonly channel: Channel;
  /** The `sms:` link; null when the card was delivered (`channel` is `rcs`). */
  readonly fallbackUri: string | null;
  readonly phone: string;
  readonly accountId: string;
  readonly brandId: string;
  readonly brandSlug: string;
  readonly clientChallenge: string;
  readonly expiresAt: string;
  readonly createdAt: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Present only on sessions of test keys: nobody was verified. */
  readonly test?: true;
}

export interface UnapprovedSession extends SessionFields {
  readonly status: Exclude<SessionStatus, 'approved'>;
  readonly latencyMs: null;
  readonly approvedAt: null;
}

/** An approved session in a list: without `authEntropy`. */
export interface ListedApprovedSession extends SessionFields {
  readonly status: 'approved';
  readonly latencyMs: number;
  readonly approvedAt: string;
}

export interface ApprovedSession extends ListedApprovedSession {
  /** Hex; always the same for the same phone, account and brand. A secret. */
  readonly authEntropy: string;
}

export type Session = UnapprovedSession | ApprovedSession;
export type ListedSession = UnapprovedSession | ListedApprovedSession;

/** The result of create: always pending. */
export interface CreatedSession extends UnapprovedSession {
  readonly status: 'pending';
  /**
   * Two digits that the page must show, because the card asks for them. Only for brands with number matching, only
   * when a card was sent or may still arrive, and only here: neither a fetched session nor a webhook has it.
   */
  readonly matchCode?: string;
}

/** The body of create (specification 4.1). */
export interface CreateSession {
  /** E.164. */
  readonly phone: string;
  readonly accountId: string;
  readonly brandId: string;
  /** The browser's `challenge`. */
  readonly clientChallenge: string;
  readonly webhookUrl?: string;
  /** Seconds, 30 to 300; default 90. */
  readonly ttl?: number;
  /** `sms_fallback` sends no card. */
  readonly channel?: Channel;
  /** False forbids codes by SMS for this session. Default true. */
  readonly allowSmsOtp?: boolean;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A sent code. */
export interface SentCode {
  readonly success: true;
  /** Text for users; it may change. */
  readonly message: string;
  readonly phone: string;
}

/** An accepted code. */
export interface CheckedCode {
  readonly id: string;
  readonly status: 'approved';
  readonly phone: string;
  readonly authEntropy: string;
  /** The same value as `authEntropy`. */
  readonly e2eeKeyShare: string;
  /** Present only on sessions of test keys: nobody was verified. */
  readonly test?: true;
}

export function isListedSession(value: unknown): value is ListedSession {
  if (!isObject(value) || !hasSessionFields(value)) return false;
  const { status, latencyMs, approvedAt } = value;
  if (status === 'approved') return typeof latencyMs === 'number' && isText(approvedAt);
  return UNAPPROVED.has(status) && latencyMs === null && approvedAt === null;
}

export function isSession(value: unknown): value is Session {
  if (!isListedSession(value)) return false;
  return value.status !== 'approved' || ('authEntropy' in value && isText(value.authEntropy));
}

export const isApprovedSession = (value: unknown): value is ApprovedSession =>
  isSession(value) && value.status === 'approved';

export function isCreatedSession(value: unknown): value is CreatedSession {
  if (!isListedSession(value) || value.status !== 'pending') return false;
  return !('matchCode' in value) || isText(value.matchCode);
}

export function isSentCode(value: unknown): value is SentCode {
  return isObject(value) && value['success'] === true && isText(value['message']) && isText(value['phone']);
}

export function isCheckedCode(value: unknown): value is CheckedCode {
  if (!isObject(value) || value['status'] !== 'approved') return false;
  return ['id', 'phone', 'authEntropy', 'e2eeKeyShare'].every((name) => isText(value[name])) && hasTestMark(value);
}

const UNAPPROVED: ReadonlySet<unknown> = new Set(['pending', 'expired', 'denied', 'cancelled']);
const TEXTS = ['id', 'phone', 'accountId', 'brandId', 'brandSlug', 'clientChallenge', 'expiresAt', 'createdAt'];

function hasSessionFields(value: Readonly<Record<string, unknown>>): boolean {
  const { channel, fallbackUri, metadata } = value;
  return (
    TEXTS.every((name) => isText(value[name])) &&
    (channel === 'rcs' || channel === 'sms_fallback') &&
    isTextOrNull(fallbackUri) &&
    isObject(metadata) &&
    Object.values(metadata).every(isText) &&
    hasTestMark(value)
  );
}

/** Absent or true: any other value must not pass as a live session. */
export const hasTestMark = (value: Readonly<Record<string, unknown>>): boolean =>
  !('test' in value) || value['test'] === true;
