import type { Uuid } from '@countersign/ids';
import { NOW } from '../offers/card-tables.sql.js';

type RbmCommandKind = 'revoke' | 'close_approved' | 'close_denied';

/**
 * A request to the platform that is still due: revoke the card, or send the text that closes it. Its columns are called `errand`.
 */
export interface RbmCommand {
  readonly id: Uuid;
  readonly kind: RbmCommandKind;
  readonly agentId: string;
  readonly phone: string;
  readonly brandName: string;
  /** That of the card; the closing text has `messageIdOf(id, 'closing')`. */
  readonly messageId: Uuid;
  readonly expiresAt: Date;
}

/** As in 0022-gateway-bounds.ts, so that no row fails the claim of others. */
const MOST_TRIES = 100;

/**
 * Drops due commands that have had all their tries, or that are too late to be of use. $1 lowest id, $2 first id that
 * cannot exist yet, $3 maximum tries, $4 seconds after the expiry of the card.
 */
export const EXPIRE_COMMANDS = `
  WITH stale AS MATERIALIZED (
    SELECT id FROM cards WHERE id >= $1 AND id < $2 AND errand IS NOT NULL AND errand_due_at <= clock_timestamp()
      AND (errand_tries >= $3 OR expires_at < clock_timestamp() - make_interval(secs => $4))
    ORDER BY id LIMIT 500 FOR UPDATE SKIP LOCKED)
  UPDATE cards SET errand = NULL, errand_due_at = NULL FROM stale
  WHERE cards.id = stale.id AND cards.id >= $1 AND cards.id < $2`;

/**
 * Claims due commands that may still be of use, the last due first: none waits behind older ones, however many. A command whose
 * gateway fails is due once more after the lease. $1 lowest id, $2 first id that cannot exist yet, $3 limit, $4 seconds of
 * the lease, $5 seconds after the expiry of the card.
 */
export const CLAIM_DUE_COMMANDS = `
  WITH due AS MATERIALIZED (
    SELECT id FROM cards WHERE id >= $1 AND id < $2 AND errand IS NOT NULL AND errand_due_at <= clock_timestamp()
      AND expires_at >= clock_timestamp() - make_interval(secs => $5)
    ORDER BY errand_due_at DESC LIMIT $3 FOR UPDATE SKIP LOCKED)
  UPDATE cards SET errand_due_at = ${NOW} + make_interval(secs => $4), errand_tries = least(errand_tries + 1, ${MOST_TRIES})
  FROM due WHERE cards.id = due.id AND cards.id >= $1 AND cards.id < $2
  RETURNING cards.id, errand AS kind, agent_id AS "agentId", phone, brand_name AS "brandName",
    message_id AS "messageId", expires_at AS "expiresAt"`;

/** Removes a command, unless another has replaced it meanwhile. $1 id, $2 kind. */
export const COMPLETE_COMMAND = `UPDATE cards SET errand = NULL, errand_due_at = NULL WHERE id = $1 AND errand = $2`;

/** Makes a failed command due again, or drops it. $1 id, $2 kind, $3 maximum tries, $4 seconds of pause. */
export const RETRY_COMMAND = `
  UPDATE cards SET errand = CASE WHEN errand_tries < $3 THEN errand END,
    errand_due_at = CASE WHEN errand_tries < $3 THEN ${NOW} + make_interval(secs => $4) END
  WHERE id = $1 AND errand = $2`;

/** Milliseconds until a command is due, 0 when one is; no row when there is none. $1 and $2 as in CLAIM_DUE_COMMANDS. */
export const NEXT_COMMAND = `
  SELECT greatest(0, extract(epoch FROM min(errand_due_at) - clock_timestamp()) * 1000)::float8 AS ms
  FROM cards WHERE id >= $1 AND id < $2 AND errand IS NOT NULL HAVING min(errand_due_at) IS NOT NULL`;
