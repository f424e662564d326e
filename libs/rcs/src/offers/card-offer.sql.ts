import { isRunning } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import type { FinalChannel } from '../rules/card.js';
import { isPast, NOW } from './card-tables.sql.js';

/** A phone under its lock. */
export interface PhoneRow {
  readonly phone: string;
  readonly recent: readonly Uuid[];
  readonly denials: readonly Date[];
  readonly now: Date;
}

/** Facts about a card before it is offered, other than those of its phone. */
export interface StandingRow {
  readonly id: Uuid;
  readonly paused: boolean;
  readonly suspended: boolean;
  readonly prefersSms: boolean;
  readonly unreachableAt: Date | null;
  /** The session has a card already. */
  readonly earlier: boolean;
  readonly finalChannel: FinalChannel | null;
}

/**
 * Inserts or finds the rows of phones, locks them in phone order and reads the clock for each after its lock, so that
 * offers to one phone are serialized. $1 phones, distinct.
 */
export const LOCK_PHONES = `
  WITH locked AS (
    INSERT INTO card_phones AS known (phone, changed_at)
    SELECT phone, clock_timestamp() FROM unnest($1::text[]) AS input (phone) ORDER BY phone
    ON CONFLICT (phone) DO UPDATE SET phone = known.phone
    RETURNING phone, recent, denials)
  SELECT *, ${NOW} AS now FROM locked`;

/**
 * Reasons against offering cards, and whether each card exists already. $1 ids, $2 agents and $3 phones in the same order,
 * $4 and $5 bounds of the ids.
 */
export const READ_STANDING = `
  SELECT wanted.id, NOT ${isRunning('cards')} AS paused,
    coalesce(agent.suspended AND ${isPast('agent.changed_at')}, false) AS suspended,
    coalesce(${isPast('recipient.prefers_sms_at')}, false) AS "prefersSms",
    CASE WHEN ${isPast('recipient.unreachable_at')} THEN recipient.unreachable_at END AS "unreachableAt", card.id IS NOT NULL AS earlier, card.settled_as AS "finalChannel"
  FROM unnest($1::uuid[], $2::text[], $3::text[]) AS wanted (id, agent_id, phone)
    LEFT JOIN card_agents AS agent ON agent.agent_id = wanted.agent_id
    LEFT JOIN card_recipients AS recipient ON recipient.agent_id = wanted.agent_id AND recipient.phone = wanted.phone
    LEFT JOIN cards AS card
      ON card.id = wanted.id AND card.id = ANY ($1::uuid[]) AND card.id BETWEEN $4 AND $5`;

/**
 * Inserts cards created now, and counts each against its phone, which the caller has locked. $1 JSON array of cards, keys
 * as in `input`; `recent` holds the recent cards of the phone including this one.
 */
export const INSERT_CARDS = `
  WITH input AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::json) AS input (id uuid, account_id uuid, brand_id uuid, origin_process uuid,
      agent_id text, phone text, brand_name text, logo_url text, number_matching boolean, key_version smallint,
      message_id uuid, expires_at timestamptz, recent uuid[])),
  counted AS (
    UPDATE card_phones SET recent = input.recent, changed_at = clock_timestamp()
    FROM input WHERE card_phones.phone = input.phone)
  INSERT INTO cards (id, account_id, brand_id, waiter, agent_id, phone, brand_name, logo_url, number_matching,
    key_version, message_id, created_at, expires_at)
  SELECT id, account_id, brand_id, origin_process, agent_id, phone, brand_name, logo_url, number_matching, key_version,
    message_id, ${NOW}, expires_at
  FROM input`;

/** A card that this statement settled. */
export interface SettledRow {
  readonly id: Uuid;
  readonly phone: string;
  readonly withdrawn: boolean;
}

/**
 * Settles unsettled cards as `sms_fallback`. An unclaimed card is withdrawn. For a card that may still reach its phone a
 * revoke is due: now, or during a send once its outcome is recorded, $5 seconds from now at the latest. $1 ids, $2 whether
 * to settle only an unclaimed card, in the same order, $3 and $4 bounds of the ids, $5 seconds that a send may take.
 */
export const SETTLE_CARDS = `
  UPDATE cards SET settled_at = ${NOW}, settled_as = 'sms_fallback',
    state = CASE WHEN state = 'offered' THEN 'withdrawn' ELSE state END,
    errand = CASE WHEN state IN ('sending', 'sent', 'unknown') THEN 'revoke' END,
    errand_due_at = CASE state WHEN 'sending' THEN ${NOW} + make_interval(secs => $5)
      WHEN 'sent' THEN ${NOW} WHEN 'unknown' THEN ${NOW} END
  FROM unnest($1::uuid[], $2::boolean[]) AS wanted (id, unclaimed_only)
  WHERE cards.id = wanted.id AND cards.id = ANY ($1::uuid[]) AND cards.id BETWEEN $3 AND $4
    AND settled_at IS NULL AND (state = 'offered' OR NOT unclaimed_only)
  RETURNING cards.id, phone, state = 'withdrawn' AS withdrawn`;

/** The settlement of cards. $1 ids, $2 and $3 their bounds. */
export const READ_SETTLED = `
  SELECT id, settled_as AS "finalChannel", state FROM cards WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3`;

/**
 * Makes a revoke due, once, for cards of ended sessions that may still reach their phones; the due time is that of
 * SETTLE_CARDS. Returns their ids. $1 ids, $2 and $3 their bounds, $4 seconds that a send may take.
 */
export const REQUEST_REVOKES_OF_ENDED_SESSIONS = `
  WITH ended AS MATERIALIZED (
    SELECT id FROM cards WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3
      AND state IN ('sending', 'sent', 'unknown') AND delivered_at IS NULL AND tapped_at IS NULL
      AND errand IS NULL AND errand_tries = 0 AND expires_at > clock_timestamp()
    ORDER BY id FOR UPDATE)
  UPDATE cards SET errand = 'revoke',
    errand_due_at = CASE state WHEN 'sending' THEN ${NOW} + make_interval(secs => $4) ELSE ${NOW} END
  FROM ended WHERE cards.id = ended.id AND cards.id = ANY ($1::uuid[]) AND cards.id BETWEEN $2 AND $3
  RETURNING cards.id`;

/** Deletes rows of phones that have not changed for a day, or that changed later than now. $1 limit of each. */
export const DELETE_STALE_PHONES = `
  WITH old AS (
    SELECT phone FROM card_phones WHERE changed_at < statement_timestamp() - interval '1 day'
    ORDER BY changed_at LIMIT $1 FOR UPDATE SKIP LOCKED),
  to_come AS (
    SELECT phone FROM card_phones WHERE changed_at > statement_timestamp() + interval '1 minute'
    ORDER BY changed_at LIMIT $1 FOR UPDATE SKIP LOCKED)
  DELETE FROM card_phones WHERE phone IN (SELECT phone FROM old UNION ALL SELECT phone FROM to_come)
  RETURNING 1`;

/** Deletes rows of recipients that were unreachable more than a day ago, or later than now. $1 limit of each. */
export const DELETE_STALE_RECIPIENTS = `
  WITH old AS (
    SELECT agent_id, phone FROM card_recipients
    WHERE prefers_sms_at IS NULL AND unreachable_at < statement_timestamp() - interval '1 day'
    ORDER BY unreachable_at LIMIT $1 FOR UPDATE SKIP LOCKED),
  to_come AS (
    SELECT agent_id, phone FROM card_recipients
    WHERE prefers_sms_at IS NULL AND unreachable_at > statement_timestamp() + interval '1 minute'
    ORDER BY unreachable_at LIMIT $1 FOR UPDATE SKIP LOCKED)
  DELETE FROM card_recipients
  WHERE (agent_id, phone) IN (SELECT agent_id, phone FROM old UNION ALL SELECT agent_id, phone FROM to_come)
  RETURNING 1`;
