import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { LockedSession } from './rules/judge-inbound.js';
import { encodeMetadata, parseMetadata } from './rules/metadata.js';
import { deriveToken, tokenDigest } from './tokens/token.js';
import { DEFAULT_ATTEMPT_LIMIT, type CodeState } from './rules/otp.js';
import { statusAt, type SessionState } from './rules/transition.js';
import type { Channel, Metadata, PlainSession, Session } from './rules/session.js';
import type { CodeRow, EndingRow, TimedRow } from './session.sql.js';

/** The fields of a new session: validated by the caller, with brand and number copied. */
export interface CreateSession {
  readonly accountId: Uuid;
  readonly brandId: Uuid;
  /** E.164. */
  readonly phone: string;
  /** ISO 3166-1 alpha-2, or `001`. */
  readonly country: string;
  /** Created with a test key. */
  readonly test: boolean;
  readonly channel: Channel;
  /** 64 hex digits. */
  readonly clientChallenge: string;
  readonly brandSlug: string;
  readonly brandName: string;
  /** Default sender of codes for routes without one; null for the inbound number. */
  readonly otpSender: string | null;
  /** The site on which phones fill in a code; null for none. */
  readonly otpDomain: string | null;
  readonly instruction: string;
  /** E.164 or a short code. */
  readonly inboundNumber: string;
  readonly webhookUrl: string | null;
  readonly ttlSeconds: number;
  readonly allowSmsOtp: boolean;
  readonly metadata: Metadata;
  readonly entropyKeyVersion: number;
  /** Limit of wrong codes; DEFAULT_ATTEMPT_LIMIT by default. */
  readonly attemptLimit?: number;
}

export interface CreateCommand {
  readonly id: Uuid;
  readonly session: CreateSession;
}

/** A new session as one element of the insert statement's JSON. Written field by field: a spread takes five times as long. */
export function insertRow(keys: ServerKeys, { id, session }: CreateCommand): Readonly<Record<string, unknown>> {
  return {
    id,
    accountId: session.accountId,
    brandId: session.brandId,
    phone: session.phone,
    country: session.country,
    test: session.test,
    channel: session.channel,
    tokenDigest: tokenDigest(keys, session.brandSlug, deriveToken(keys, id)).toString('base64'),
    clientChallenge: session.clientChallenge,
    brandSlug: session.brandSlug,
    brandName: session.brandName,
    otpSender: session.otpSender,
    otpDomain: session.otpDomain,
    instruction: session.instruction,
    inboundNumber: session.inboundNumber,
    webhookUrl: session.webhookUrl,
    allowSmsOtp: session.allowSmsOtp,
    metadata: encodeMetadata(session.metadata),
    entropyKeyVersion: session.entropyKeyVersion,
    otpAttemptLimit: session.attemptLimit ?? DEFAULT_ATTEMPT_LIMIT,
    keyVersion: keys.currentVersion,
    ttlSeconds: session.ttlSeconds,
  };
}

/**
 * The session that a create command made at `createdAt` with the current keys. Written field by field, like
 * `plainSessionOf`.
 */
export function createdSession(keys: ServerKeys, { id, session }: CreateCommand, createdAt: Date): Session {
  return {
    id,
    accountId: session.accountId,
    brandId: session.brandId,
    phone: session.phone,
    country: session.country,
    test: session.test,
    status: 'pending',
    channel: session.channel,
    clientChallenge: session.clientChallenge,
    brandSlug: session.brandSlug,
    brandName: session.brandName,
    otpSender: session.otpSender,
    otpDomain: session.otpDomain,
    instruction: session.instruction,
    inboundNumber: session.inboundNumber,
    webhookUrl: session.webhookUrl,
    allowSmsOtp: session.allowSmsOtp,
    entropyKeyVersion: session.entropyKeyVersion,
    keyVersion: keys.currentVersion,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + session.ttlSeconds * 1000),
    endedAt: null,
    metadata: session.metadata,
  };
}

export function stateOf(row: Pick<EndingRow, 'status' | 'expiresAt'>): SessionState {
  return { status: row.status, expiresAtMs: row.expiresAt.getTime() };
}

/**
 * The session as of the row's moment, without its metadata: pending past `expiresAt` reads as expired. Written field
 * by field, because a rest pattern costs five times as much and this runs for every SMS.
 */
export function plainSessionOf(row: TimedRow): PlainSession {
  const status = statusAt(stateOf(row), row.now.getTime());
  return {
    id: row.id,
    accountId: row.accountId,
    brandId: row.brandId,
    phone: row.phone,
    country: row.country,
    test: row.test,
    status,
    channel: row.channel,
    clientChallenge: row.clientChallenge,
    brandSlug: row.brandSlug,
    brandName: row.brandName,
    otpSender: row.otpSender,
    otpDomain: row.otpDomain,
    instruction: row.instruction,
    inboundNumber: row.inboundNumber,
    webhookUrl: row.webhookUrl,
    allowSmsOtp: row.allowSmsOtp,
    entropyKeyVersion: row.entropyKeyVersion,
    keyVersion: row.keyVersion,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    endedAt: row.status === 'pending' && status === 'expired' ? row.expiresAt : row.endedAt,
  };
}

/** The session as of the row's moment. */
export function sessionOf(row: TimedRow): Session {
  return { ...plainSessionOf(row), metadata: parseMetadata(row.metadata) };
}

export function codeState(row: CodeRow): CodeState {
  const { allowSmsOtp, otpSends: sends, otpAttempts: attempts, otpAttemptLimit: attemptLimit } = row;
  return { ...stateOf(row), allowSmsOtp, sends, attempts, attemptLimit };
}

export function lockedSession(row: EndingRow): LockedSession {
  return {
    id: row.id,
    accountId: row.accountId,
    phone: row.phone,
    approvedBy: row.approvedBy,
    nowMs: row.now.getTime(),
    mismatchSeen: row.senderMismatchAt !== null,
    ...stateOf(row),
  };
}
