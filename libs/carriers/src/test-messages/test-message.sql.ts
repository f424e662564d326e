import { CLOCK_MS } from '@countersign/postgres';
import { MAX_AN_HOUR, SENT_WITHIN_SECONDS } from './test-message.js';

/** Test messages are counted one after the other, so that their number an hour is exact. */
export const LOCK_COUNT = `LOCK TABLE test_messages IN SHARE ROW EXCLUSIVE MODE`;

export const DELETE_OLD = `DELETE FROM test_messages WHERE created_at < clock_timestamp() - interval '1 day'`;

/** Phones that a process has left which has ended. */
export const ERASE_OLD_PHONES = `
  UPDATE test_messages SET phone = '' WHERE phone <> '' AND created_at < clock_timestamp() - interval '1 minute'`;

/** Adds one unless there are as many as may be. $1 id, $2 bind, $3 phone, $4 source. */
export const ADD = `
  INSERT INTO test_messages (id, bind_id, phone, source, created_at)
  SELECT $1, $2, $3, $4, ${CLOCK_MS}
  WHERE (
    SELECT count(*) FROM test_messages WHERE created_at > clock_timestamp() - interval '1 hour') < ${MAX_AN_HOUR}
  RETURNING created_at AS "createdAt"`;

/** Seconds until there is one less; null when there is room. */
export const SECONDS_UNTIL_FREE = `
  SELECT extract(epoch FROM created_at + interval '1 hour' - clock_timestamp())::float8 AS seconds FROM test_messages
  WHERE created_at > clock_timestamp() - interval '1 hour' ORDER BY created_at DESC OFFSET ${MAX_AN_HOUR - 1} LIMIT 1`;

/** Gives new ones of these binds to one gateway, each once. $1 gateway, $2 binds. */
export const CLAIM = `
  UPDATE test_messages AS due SET gateway_id = $1
  FROM (
    SELECT id FROM test_messages
    WHERE gateway_id IS NULL AND result IS NULL AND phone <> '' AND bind_id = ANY($2::uuid[])
      AND created_at > clock_timestamp() - interval '${SENT_WITHIN_SECONDS} seconds'
    ORDER BY id LIMIT ${MAX_AN_HOUR} FOR UPDATE SKIP LOCKED) AS found
  WHERE due.id = found.id
  RETURNING due.id, due.bind_id AS "bindId", due.phone, due.source, due.created_at AS "createdAt"`;

/** Stores the result of the gateway that has sent it, once. $1 id, $2 gateway, $3 result as JSON. */
export const RECORD = `
  UPDATE test_messages SET result = $3 WHERE id = $1 AND gateway_id = $2 AND result IS NULL`;

/** Stores the result of one that no gateway has claimed: from now on none sends it. $1 id, $2 result as JSON. */
export const GIVE_UP = `
  UPDATE test_messages SET result = $2 WHERE id = $1 AND gateway_id IS NULL AND result IS NULL`;

/** Erases the phone, which no process reads any more. $1 id. */
export const ERASE_PHONE = `UPDATE test_messages SET phone = '' WHERE id = $1`;

/** $1 id. */
export const READ_RESULT = `SELECT result FROM test_messages WHERE id = $1`;
