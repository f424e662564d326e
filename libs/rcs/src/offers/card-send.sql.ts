import type { Uuid } from '@countersign/ids';
import type { CardState, FinalChannel } from '../rules/card.js';
import { CARD, NOW } from './card-tables.sql.js';

/**
 * Claims unsettled offers and returns them; rows that another transaction has locked are skipped. $1 ids, $2 and $3 their
 * bounds, $4 milliseconds after which an offer can no longer be claimed.
 */
export const CLAIM_OFFERS = `
  WITH offer AS MATERIALIZED (
    SELECT id FROM cards WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 AND state = 'offered'
      AND settled_at IS NULL AND expires_at > clock_timestamp()
      AND created_at > clock_timestamp() - make_interval(secs => $4::float8 / 1000)
    ORDER BY id FOR UPDATE SKIP LOCKED),
  claimed AS (
    UPDATE cards SET state = 'sending' FROM offer
    WHERE cards.id = offer.id AND cards.id = ANY ($1::uuid[]) AND cards.id BETWEEN $2 AND $3
    RETURNING cards.*)
  SELECT ${CARD} FROM claimed`;

/**
 * Records outcomes of sends. Every outcome but `sent` settles the card as `sms_fallback`; for `unknown` a revoke is due. A
 * revoke that waited for the outcome is due now, or dropped when the card was refused. A delivery event takes precedence
 * over a failed send, of which only the refusal is recorded. $1 ids, $2 states and $3 refusals or null in the same order,
 * $4 and $5 bounds of the ids.
 */
export const RECORD_SEND_OUTCOMES = `
  UPDATE cards SET refusal = outcome.refusal,
    state = CASE WHEN delivered_at IS NULL THEN outcome.state ELSE 'sent' END,
    sent_at = CASE WHEN outcome.state = 'sent' THEN ${NOW} ELSE sent_at END,
    settled_at = CASE WHEN outcome.state = 'sent' THEN settled_at ELSE coalesce(settled_at, ${NOW}) END,
    settled_as = CASE WHEN outcome.state = 'sent' THEN settled_as ELSE coalesce(settled_as, 'sms_fallback') END,
    errand = CASE WHEN delivered_at IS NOT NULL THEN errand
      WHEN outcome.state = 'unknown' THEN 'revoke' WHEN outcome.state = 'sent' THEN errand END,
    errand_due_at = CASE WHEN delivered_at IS NOT NULL THEN errand_due_at
      WHEN outcome.state = 'unknown' OR (outcome.state = 'sent' AND errand IS NOT NULL) THEN ${NOW} END
  FROM unnest($1::uuid[], $2::text[], $3::text[]) AS outcome (id, state, refusal)
  WHERE cards.id = outcome.id AND cards.id = ANY ($1::uuid[]) AND cards.id BETWEEN $4 AND $5
    AND (cards.state = 'sending' OR (delivered_at IS NOT NULL AND outcome.refusal IS NOT NULL))`;

/** A card after its outcome was recorded. */
export interface OutcomeRow {
  readonly id: Uuid;
  readonly originProcess: Uuid;
  readonly agentId: string;
  readonly phone: string;
  readonly state: CardState;
  readonly finalChannel: FinalChannel | null;
}

/** $1 ids, $2 and $3 their bounds. */
export const READ_SENT_CARDS = `
  SELECT id, waiter AS "originProcess", agent_id AS "agentId", phone, state, settled_as AS "finalChannel" FROM cards
  WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3`;

/** Records that agents cannot reach phones. $1 agents, $2 phones in the same order; a pair may occur twice. */
export const NOTE_UNREACHABLE = `
  INSERT INTO card_recipients (agent_id, phone, unreachable_at)
  SELECT DISTINCT agent_id, phone, ${NOW} FROM unnest($1::text[], $2::text[]) AS input (agent_id, phone)
  ORDER BY agent_id, phone
  ON CONFLICT (agent_id, phone) DO UPDATE SET unreachable_at = excluded.unreachable_at`;
