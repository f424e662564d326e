import type { Uuid } from '@countersign/ids';
import type { FinalChannel } from '../rules/card.js';
import { NOW } from './card-tables.sql.js';

/** A phone under its lock. */
export interface PhoneRow {
  readonly phone: string;
  readonly recent: readonly Uuid[];
  readonly denials: readonly Date[];
  readonly now: Date;
}

/** What is known of a card before it is offered, but for its phone. */
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
 * Makes the rows of some phones, or finds them, locks them in their order and reads the clock for each after its lock, so
 * that cards to one phone take turns. $1 phones, each once.
 */
export const LOCK_PHONES = `
  WITH locked AS (
    INSERT INTO card_phones AS known (phone, changed_at)
    SELECT phone, clock_timestamp() FROM unnest($1::text[]) AS input (phone) ORDER BY phone
    ON CONFLICT (phone) DO UPDATE SET phone = known.phone
    RETURNING phone, recent, denials)
  SELECT *, ${NOW} AS now FROM locked`;

/**
 * What speaks against some cards, and whether they are there already. $1 ids, $2 agents and $3 phones in the same order,
 * $4 and $5 bounds of the ids.
 */
export const READ_STANDING = `
  SELECT wanted.id, EXISTS (SELECT FROM queue_switches WHERE name = 'cards' AND paused_at IS NOT NULL) AS paused,
    coalesce(agent.suspended, false) AS suspended, recipient.prefers_sms_at IS NOT NULL AS "prefersSms",
    recipient.unreachable_at AS "unreachableAt", card.id IS NOT NULL AS earlier, card.settled_as AS "finalChannel"
  FROM unnest($1::uuid[], $2::text[], $3::text[]) AS wanted (id, agent_id, phone)
    LEFT JOIN card_agents AS agent ON agent.agent_id = wanted.agent_id
    LEFT JOIN card_recipients AS recipient ON recipient.agent_id = wanted.agent_id AND recipient.phone = wanted.phone
    LEFT JOIN cards AS card
      ON card.id = wanted.id AND card.id = ANY ($1::uuid[]) AND card.id BETWEEN $4 AND $5`;

/**
 * Inserts cards, made now, and counts each against its phone, which the caller has locked. $1 JSON array of cards, keys
 * as in the column list; `recent` is what the phone has had with this one.
 */
export const INSERT_CARDS = `
  WITH input AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::json) AS input (id uuid, account_id uuid, brand_id uuid, waiter uuid,
      agent_id text, phone text, brand_name text, logo_url text, number_matching boolean, key_version smallint,
      message_id uuid, expires_at timestamptz, recent uuid[])),
  counted AS (
    UPDATE card_phones SET recent = input.recent, changed_at = clock_timestamp()
    FROM input WHERE card_phones.phone = input.phone)
  INSERT INTO cards (id, account_id, brand_id, waiter, agent_id, phone, brand_name, logo_url, number_matching,
    key_version, message_id, created_at, expires_at)
  SELECT id, account_id, brand_id, waiter, agent_id, phone, brand_name, logo_url, number_matching, key_version,
    message_id, ${NOW}, expires_at
  FROM input`;

/** A card that nobody settled before. */
export interface SettledRow {
  readonly id: Uuid;
  readonly phone: string;
  readonly withdrawn: boolean;
}

/**
 * Says of cards that are not settled that their sessions fall back to SMS. One that no gateway took is withdrawn; one that
 * may still reach its phone is to be revoked: at once, or if its send is under way, when its outcome is known or that
 * long after. $1 ids, $2 whether only while no gateway took it, in the same order, $3 and $4 bounds of the ids, $5
 * seconds that a send may take.
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

/** How cards stand. $1 ids, $2 and $3 their bounds. */
export const READ_SETTLED = `
  SELECT id, settled_as AS "finalChannel", state FROM cards WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3`;

/**
 * Cards of sessions that ended and that may still reach their phones are to be revoked, once; when, as in SETTLE_CARDS.
 * Gives their ids. $1 ids, $2 and $3 their bounds, $4 seconds that a send may take.
 */
export const REVOKE_ENDED = `
  WITH ended AS MATERIALIZED (
    SELECT id FROM cards WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3
      AND state IN ('sending', 'sent', 'unknown') AND delivered_at IS NULL AND tapped_at IS NULL
      AND errand IS NULL AND errand_tries = 0 AND expires_at > clock_timestamp()
    ORDER BY id FOR UPDATE)
  UPDATE cards SET errand = 'revoke',
    errand_due_at = CASE state WHEN 'sending' THEN ${NOW} + make_interval(secs => $4) ELSE ${NOW} END
  FROM ended WHERE cards.id = ended.id AND cards.id = ANY ($1::uuid[]) AND cards.id BETWEEN $2 AND $3
  RETURNING cards.id`;

/** Forgets phones that nothing has changed for a day. $1 how many at most. */
export const FORGET_PHONES = `
  DELETE FROM card_phones WHERE phone IN (
    SELECT phone FROM card_phones WHERE changed_at < statement_timestamp() - interval '1 day'
    ORDER BY changed_at LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING 1`;

/** Forgets that phones could not be reached a day ago. $1 how many at most. */
export const FORGET_UNREACHABLE = `
  DELETE FROM card_recipients WHERE (agent_id, phone) IN (
    SELECT agent_id, phone FROM card_recipients
    WHERE prefers_sms_at IS NULL AND unreachable_at < statement_timestamp() - interval '1 day'
    ORDER BY unreachable_at LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING 1`;
