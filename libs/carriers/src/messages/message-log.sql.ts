import { SIGN_IN_ACCOUNT_ID, type Mode } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { MESSAGE_FATES, type MessageFate } from '../inbound/message.js';
import type { OutboundState } from '../outbound/outbound.js';

/** The link id of MOs of test numbers; no bind or system has it. */
export const TEST_LINK_ID: Uuid = '00000000-0000-0000-0000-000000000000';

/** Messages of sign-ins to the console are not listed. */
const LISTED = `account_id IS DISTINCT FROM '${SIGN_IN_ACCOUNT_ID}'`;

/** The common columns of messages in both directions. `linkKind` is null for a deleted link. */
const INBOUND = `id, 'in' AS direction, link_id = '${TEST_LINK_ID}' AS test, fate, received_at AS at, session_id AS "sessionId", account_id AS "accountId",
  carrier, CASE WHEN EXISTS (SELECT 1 FROM binds WHERE binds.id = link_id) THEN 'bind'
    WHEN EXISTS (SELECT 1 FROM smpp_systems WHERE smpp_systems.id = link_id) THEN 'sys' END AS "linkKind",
  link_id AS "linkId", source, destination, part_number AS "partNumber", part_total AS "partTotal",
  NULL::smallint AS attempts, NULL::smallint AS "unknownFates", NULL::text AS "networkError", NULL::text AS "smscMessageId",
  NULL::timestamptz AS "submittedAt", NULL::timestamptz AS "endedAt"`;
const OUTBOUND = `id, 'out' AS direction, test, state AS fate, created_at AS at, session_id AS "sessionId",
  account_id AS "accountId", carrier, CASE WHEN bind_id IS NOT NULL THEN 'bind' WHEN system_id IS NOT NULL THEN 'sys' END AS "linkKind",
  coalesce(bind_id, system_id) AS "linkId",
  coalesce(source, sender) AS source, destination, NULL::smallint AS "partNumber", NULL::smallint AS "partTotal",
  attempts, unknown_fates AS "unknownFates", network_error AS "networkError", smsc_message_id AS "smscMessageId", submitted_at AS "submittedAt",
  ended_at AS "endedAt"`;

/**
 * The attempts with the name of their bind or system. Ids are compared as texts, since a cast of one that is no id would fail
 * the statement; there are tens of binds and systems.
 */
export const ATTEMPTS = `(
  SELECT coalesce(jsonb_agg(CASE WHEN jsonb_typeof(entry) = 'object' THEN entry || jsonb_build_object('linkName', coalesce(
      (SELECT name FROM binds WHERE binds.id::text = entry->>'bind'),
      (SELECT smpp_systems.system_id FROM smpp_systems WHERE smpp_systems.id::text = entry->>'system')))
    ELSE entry END ORDER BY nth), '[]')
  FROM jsonb_array_elements(attempt_log) WITH ORDINALITY AS attempts (entry, nth))`;

/** One message, with its attempts if it is an MT. $1 id. */
export const FIND_MESSAGE = `
  SELECT ${INBOUND}, NULL::jsonb AS "attemptLog" FROM messages WHERE id = $1 AND ${LISTED}
  UNION ALL SELECT ${OUTBOUND}, ${ATTEMPTS} FROM outbound_messages WHERE id = $1 AND ${LISTED}`;

/** Planned without the order: with it the planner may read all later messages by id instead of those of the session. */
const ofSession = (table: string): string => `
    FROM (SELECT * FROM ${table} WHERE session_id = $1 AND id >= $2 OFFSET 0) AS ${table} ORDER BY id LIMIT $3`;

/** The first messages of a session in each direction, with attempts. $1 session, $2 lowest id, $3 maximum rows of each. */
export const MESSAGES_OF_SESSION = `
  (SELECT ${INBOUND}, NULL::jsonb AS "attemptLog" ${ofSession('messages')})
  UNION ALL (SELECT ${OUTBOUND}, ${ATTEMPTS} ${ofSession('outbound_messages')})`;

/** The sealed text; null after erasure. $1 id. */
export const FIND_TEXT = `
  SELECT text_sealed AS sealed FROM messages WHERE id = $1
  UNION ALL SELECT text_sealed FROM outbound_messages WHERE id = $1`;

/** A filter of messages. */
export interface MessageFilter {
  readonly direction?: 'in' | 'out' | undefined;
  readonly sessionId?: Uuid | undefined;
  readonly fate?: MessageFate | OutboundState | undefined;
  /** Both modes when undefined. */
  readonly mode?: Mode | undefined;
  /** The phone's number in E.164: source of an MO, destination of an MT. */
  readonly phone?: string | undefined;
}

export interface MessagePage {
  readonly limit: number;
  readonly startingAfter: Uuid | null;
}

/** Adds a value to a statement, and returns its placeholder. */
type Put = (value: unknown) => string;

/** A query of one table with its conditions. */
interface TableQuery {
  readonly from: string;
  readonly conditions: readonly string[];
}

/** Conditions as literals, so that the partial indexes of test messages apply. */
const INBOUND_MODE: Readonly<Record<Mode, string>> = {
  live: `link_id <> '${TEST_LINK_ID}'`,
  test: `link_id = '${TEST_LINK_ID}'`,
};
const OUTBOUND_MODE: Readonly<Record<Mode, string>> = { live: 'NOT test', test: 'test' };

const ofMode = (conditions: Readonly<Record<Mode, string>>, mode: Mode | undefined): readonly string[] =>
  mode === undefined ? [] : [conditions[mode]];

const isInboundFate = (fate: string): boolean => MESSAGE_FATES.some((known) => known === fate);
const ofPhone = (phone: string, put: Put): string =>
  `session_id IN (SELECT id FROM sessions WHERE phone = ${put(phone)})`;

/**
 * A page of messages, newest first, with one row more than requested if there are more; null when nothing can match.
 * Each query is made for one index. MOs that matched, and codes, are found by the phone of their session; other MOs
 * by the sender as written by the carrier.
 */
export function pageOfMessages(
  { direction, sessionId, fate, phone, mode }: MessageFilter,
  { limit, startingAfter }: MessagePage,
): { readonly text: string; readonly values: readonly unknown[] } | null {
  const values: unknown[] = [limit + 1];
  const put: Put = (value) => `$${values.push(value)}`;
  const before = startingAfter === null ? [] : [`id < ${put(startingAfter)}`];
  const ofSession = sessionId === undefined ? [] : [`session_id = ${put(sessionId)}`];
  const common = [LISTED, ...before, ...ofSession];
  const queries: TableQuery[] = [];
  if (direction !== 'out' && (fate === undefined || isInboundFate(fate))) {
    const fated = fate === undefined ? [] : [`fate = ${put(fate)}`];
    for (const sent of inboundOf(phone, put)) {
      queries.push({
        from: `${INBOUND} FROM messages`,
        conditions: [...common, ...fated, ...sent, ...ofMode(INBOUND_MODE, mode)],
      });
    }
  }
  if (direction !== 'in' && (fate === undefined || !isInboundFate(fate))) {
    const fated = fate === undefined ? [] : [`state = ${put(fate)}`];
    const sent = phone === undefined ? [] : [ofPhone(phone, put)];
    queries.push({
      from: `${OUTBOUND} FROM outbound_messages`,
      conditions: [...common, ...fated, ...sent, ...ofMode(OUTBOUND_MODE, mode)],
    });
  }
  return queries.length === 0 ? null : { text: union(queries), values };
}

function inboundOf(phone: string | undefined, put: Put): readonly (readonly string[])[] {
  if (phone === undefined) return [[]];
  const spellings = put(spellingsOf(phone));
  return [
    [`fate <> 'matched' AND source = ANY (${spellings}::text[])`],
    [`fate = 'matched' AND ${ofPhone(phone, put)}`],
  ];
}

/** The spellings of an international number by carriers. */
const spellingsOf = (e164: string): string[] => [e164, e164.slice(1), `00${e164.slice(1)}`];

function union(queries: readonly TableQuery[]): string {
  const parts = queries.map(({ from, conditions }) => {
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
    return `(SELECT ${from} ${where} ORDER BY id DESC LIMIT $1)`;
  });
  return `SELECT * FROM (${parts.join(' UNION ALL ')}) AS page ORDER BY id DESC LIMIT $1`;
}
