import type { Uuid } from '@countersign/ids';
import type { TestAct } from './test-number.js';

/** A pending test session whose phone is due to act. */
export interface DueAnswer {
  readonly id: Uuid;
  readonly act: TestAct;
}

/**
 * Locks pending sessions of test keys whose phones are due to act, oldest first. Skips rows that another process has
 * locked, and sessions whose wrong sender has been reported, since they stay pending.
 * $1 phones, $2 channels and $3 acts in the same order, $4 seconds until a phone acts, $5 lowest id to read, $6 first id
 * that cannot exist yet, $7 how many at most.
 *
 * The phones are repeated beside the join: without them the planner reads all pending sessions while it has no statistics.
 */
export const LOCK_DUE_ANSWERS = `
  SELECT sessions.id, acting.act
  FROM unnest($1::text[], $2::text[], $3::text[]) AS acting (phone, channel, act)
  JOIN sessions ON sessions.phone = acting.phone AND sessions.channel = acting.channel
  WHERE sessions.test AND sessions.status = 'pending' AND sessions.phone = ANY ($1::text[]) AND sessions.id >= $5 AND sessions.id < $6
    AND sessions.created_at <= statement_timestamp() - make_interval(secs => $4)
    AND sessions.expires_at > statement_timestamp()
    AND (acting.act <> 'wrong_sender' OR sessions.sender_mismatch_at IS NULL)
  ORDER BY sessions.created_at LIMIT $7 FOR UPDATE OF sessions SKIP LOCKED`;

/** The fields of a code that the next step needs. */
export interface DueCode {
  readonly id: Uuid;
  readonly destination: string;
}

/**
 * Locks queued codes of test keys. Skips rows that another process has locked. $1 lowest id to read,
 * $2 first id that cannot exist yet, $3 how many at most.
 */
export const LOCK_QUEUED_CODES = `
  SELECT id, destination FROM outbound_messages
  WHERE test AND state = 'queued' AND id >= $1 AND id < $2
  LIMIT $3 FOR UPDATE SKIP LOCKED`;

/**
 * Locks codes of test keys whose receipts are due, oldest first. Skips rows that another process has locked.
 * $1 lowest id to read, $2 first id that cannot exist yet, $3 how many at most, $4 seconds until a receipt.
 */
export const LOCK_SUBMITTED_CODES = `
  SELECT id, destination FROM outbound_messages
  WHERE test AND state = 'submitted' AND submitted_at <= statement_timestamp() - make_interval(secs => $4)
    AND id >= $1 AND id < $2
  ORDER BY submitted_at LIMIT $3 FOR UPDATE SKIP LOCKED`;
