import type { Uuid } from '@countersign/ids';
import type { FinalChannel } from '../rules/card.js';
import type { CardEventKind } from '../rules/card-event.js';
import { isPast, NOW } from '../offers/card-tables.sql.js';

/**
 * Inserts events in id order; existing rows stay unchanged. Events with an outcome are stored as processed. Returns the new
 * ids. $1 JSON array of events, keys as in the column list.
 */
export const INSERT_EVENTS = `
  INSERT INTO card_events (id, kind, agent_id, phone, message_id, card_id, choice, launch_state, occurred_at, outcome,
    received_at, handled_at)
  SELECT id, kind, agent_id, phone, message_id, card_id, choice, launch_state, occurred_at, outcome, ${NOW},
    CASE WHEN outcome IS NOT NULL THEN ${NOW} END
  FROM json_to_recordset($1::json) AS input (id uuid, kind text, agent_id text, phone text, message_id uuid,
    card_id uuid, choice text, launch_state text, occurred_at timestamptz, outcome text)
  ORDER BY id
  ON CONFLICT (id) DO NOTHING
  RETURNING id`;

/** A stored event. */
export interface EventRow {
  readonly id: Uuid;
  readonly kind: CardEventKind;
  readonly agentId: string;
  readonly phone: string | null;
  readonly messageId: Uuid | null;
  readonly cardId: Uuid | null;
  readonly choice: string | null;
  readonly launchState: string | null;
  readonly occurredAt: Date;
}

const EVENT = `id, kind, agent_id AS "agentId", phone, message_id AS "messageId", card_id AS "cardId", choice,
  launch_state AS "launchState", occurred_at AS "occurredAt"`;

/** Locks unprocessed events and skips locked rows. $1 ids, $2 and $3 their bounds. */
export const CLAIM_EVENTS = `
  SELECT ${EVENT} FROM card_events
  WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 AND handled_at IS NULL
  ORDER BY id FOR UPDATE SKIP LOCKED`;

/** The same for the oldest events. $1 lowest id, $2 first id that cannot exist yet, $3 limit. */
export const CLAIM_OLDEST_EVENTS = `
  SELECT ${EVENT} FROM card_events
  WHERE id >= $1 AND id < $2 AND handled_at IS NULL ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED`;

/** The cards of these messages. $1 message ids, $2 lowest card id, $3 first card id that cannot exist yet. */
export const FIND_BY_MESSAGE = `
  SELECT id, message_id AS "messageId" FROM cards WHERE message_id = ANY ($1::uuid[]) AND id >= $2 AND id < $3`;

/** A card under its lock. */
export interface LockedRow {
  readonly id: Uuid;
  readonly originProcess: Uuid;
  readonly agentId: string;
  readonly phone: string;
  readonly numberMatching: boolean;
  readonly keyVersion: number;
  readonly expiresAt: Date;
  readonly sentAt: Date | null;
  readonly deliveredAt: Date | null;
  readonly readAt: Date | null;
  readonly tappedAt: Date | null;
  readonly finalChannel: FinalChannel | null;
  readonly now: Date;
}

const LOCKED = `id, waiter AS "originProcess", agent_id AS "agentId", phone, number_matching AS "numberMatching",
  key_version AS "keyVersion", expires_at AS "expiresAt", sent_at AS "sentAt", delivered_at AS "deliveredAt", read_at AS "readAt",
  tapped_at AS "tappedAt", settled_as AS "finalChannel"`;

/** Locks cards in id order and reads the clock for each after its lock. $1 ids, $2 and $3 their bounds. */
export const LOCK_FOR_EVENTS = `
  WITH locked AS MATERIALIZED (
    SELECT ${LOCKED} FROM cards WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 ORDER BY id FOR UPDATE)
  SELECT *, ${NOW} AS now FROM locked`;

/**
 * The same for the cards of these messages; locked rows are skipped. $1 message ids, distinct, $2 lowest card id, $3 first
 * card id that cannot exist yet: each bound is an ANY of one element, because on a partition without statistics the planner
 * takes a plain comparison for a narrow range.
 */
export const LOCK_BY_MESSAGE = `
  WITH locked AS MATERIALIZED (
    SELECT ${LOCKED}, cards.message_id AS "messageId"
    FROM unnest($1::uuid[]) AS wanted (message_id) JOIN cards ON cards.message_id = wanted.message_id
    WHERE id >= ANY (ARRAY[$2]::uuid[]) AND id < ANY (ARRAY[$3]::uuid[]) ORDER BY id FOR UPDATE OF cards SKIP LOCKED)
  SELECT *, ${NOW} AS now FROM locked`;

/**
 * Writes the decisions on cards that the caller has locked. A delivered card counts as sent, even before its send is
 * recorded. $1 ids, $2 delivery times, $3 read times, $4 final channels or null, $5 whether to drop a due revoke, in the
 * same order, $6 and $7 bounds of the ids.
 */
export const UPDATE_CARDS = `
  UPDATE cards SET delivered_at = change.delivered_at, read_at = change.read_at,
    state = CASE WHEN change.delivered_at IS NOT NULL AND state = 'sending' THEN 'sent' ELSE state END,
    sent_at = CASE WHEN change.delivered_at IS NOT NULL AND state = 'sending' THEN ${NOW} ELSE sent_at END,
    settled_at = CASE WHEN change.settles IS NULL THEN settled_at ELSE ${NOW} END,
    settled_as = coalesce(change.settles, settled_as),
    errand = CASE WHEN change.ends_revoke AND errand = 'revoke' THEN NULL ELSE errand END,
    errand_due_at = CASE WHEN change.ends_revoke AND errand = 'revoke' THEN NULL ELSE errand_due_at END
  FROM unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::text[], $5::boolean[])
    AS change (id, delivered_at, read_at, settles, ends_revoke)
  WHERE cards.id = change.id AND cards.id = ANY ($1::uuid[]) AND cards.id BETWEEN $6 AND $7`;

/** $1 ids, $2 outcomes in the same order, $3 and $4 bounds of the ids. */
export const MARK_PROCESSED = `
  UPDATE card_events SET handled_at = ${NOW}, outcome = handled.outcome
  FROM unnest($1::uuid[], $2::text[]) AS handled (id, outcome)
  WHERE card_events.id = handled.id AND card_events.id = ANY ($1::uuid[]) AND card_events.id BETWEEN $3 AND $4`;

/**
 * Records that phones unsubscribed from agents, and since when, at most now. $1 agents, $2 phones and $3 times in the same
 * order, distinct pairs.
 */
export const PREFER_SMS = `
  INSERT INTO card_recipients AS known (agent_id, phone, prefers_sms_at)
  SELECT agent_id, phone, least(said_at, ${NOW}) FROM unnest($1::text[], $2::text[], $3::timestamptz[])
    AS input (agent_id, phone, said_at)
  ORDER BY agent_id, phone
  ON CONFLICT (agent_id, phone) DO UPDATE SET
    prefers_sms_at = greatest(CASE WHEN ${isPast('known.prefers_sms_at')} THEN known.prefers_sms_at END, excluded.prefers_sms_at)`;

/** Records that phones subscribed again, unless they unsubscribed later. Parameters as in PREFER_SMS. */
export const PREFER_CARDS = `
  WITH wanted AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS input (agent_id, phone, said_at)),
  known AS MATERIALIZED (
    SELECT agent_id, phone FROM card_recipients WHERE (agent_id, phone) IN (SELECT agent_id, phone FROM wanted)
    ORDER BY agent_id, phone FOR UPDATE)
  UPDATE card_recipients SET prefers_sms_at = NULL
  FROM known JOIN wanted USING (agent_id, phone)
  WHERE card_recipients.agent_id = known.agent_id AND card_recipients.phone = known.phone
    AND (card_recipients.prefers_sms_at <= wanted.said_at OR NOT ${isPast('card_recipients.prefers_sms_at')})`;

/**
 * Records launch states of agents. An older event does not replace a newer one, times are at most now, and only LAUNCHED
 * lifts a suspension. $1 agents, distinct, $2 launch states and $3 times in the same order.
 */
export const RECORD_LAUNCH_STATES = `
  INSERT INTO card_agents AS known (agent_id, launch_state, suspended, changed_at)
  SELECT agent_id, launch_state, launch_state = 'SUSPENDED', least(changed_at, ${NOW})
  FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS input (agent_id, launch_state, changed_at)
  ORDER BY agent_id
  ON CONFLICT (agent_id) DO UPDATE SET launch_state = excluded.launch_state, changed_at = excluded.changed_at,
    suspended = excluded.suspended
      OR (known.suspended AND ${isPast('known.changed_at')} AND excluded.launch_state <> 'LAUNCHED')
  WHERE known.changed_at <= excluded.changed_at OR NOT ${isPast('known.changed_at')}`;

/**
 * Records taps that ended their sessions, and makes their closing texts due. $1 ids, $2 commands in the same order, $3 and
 * $4 bounds of the ids.
 */
export const RECORD_TAPS = `
  UPDATE cards SET tapped_at = ${NOW}, errand = tap.errand, errand_due_at = ${NOW}, errand_tries = 0
  FROM unnest($1::uuid[], $2::text[]) AS tap (id, errand)
  WHERE cards.id = tap.id AND cards.id = ANY ($1::uuid[]) AND cards.id BETWEEN $3 AND $4`;

/** Records denials of phones at this time; the last two are kept. $1 phones, one element per denial, in any order. */
export const RECORD_DENIALS = `
  INSERT INTO card_phones AS known (phone, denials, changed_at)
  SELECT phone, array_agg(${NOW}), clock_timestamp() FROM unnest($1::text[]) AS input (phone)
  GROUP BY phone ORDER BY phone
  ON CONFLICT (phone) DO UPDATE SET changed_at = excluded.changed_at,
    denials = (known.denials || excluded.denials)[cardinality(known.denials) + cardinality(excluded.denials) - 1 :]`;
