import { renderId } from '@countersign/ids';
import type pg from 'pg';

export interface FinalSession {
  readonly id: string;
  readonly phone: string;
  readonly status: string;
  readonly approvedBy: string | null;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
  readonly wrongCodes: number;
}

/** A stored MO. */
export interface FinalMessage {
  readonly phone: string;
  /** Null without a session. */
  readonly sessionId: string | null;
  readonly fate: string;
  readonly receivedAt: Date;
}

export interface FinalEvent {
  readonly id: string;
  readonly type: string;
  readonly sessionId: string;
  readonly isDispatched: boolean;
  /** The status of its delivery; null when none was made. */
  readonly delivery: string | null;
}

/** An SMS with a code. */
export interface FinalCode {
  readonly sessionId: string;
  readonly state: string;
  readonly attempts: number;
}

/** The rows of the database once everything has settled. */
export interface FinalRows {
  readonly sessions: readonly FinalSession[];
  readonly messages: readonly FinalMessage[];
  readonly events: readonly FinalEvent[];
  readonly codes: readonly FinalCode[];
}

const SESSIONS = `SELECT id, phone, status, approved_by AS "approvedBy", expires_at AS "expiresAt", ended_at AS "endedAt",
  otp_attempts AS "wrongCodes" FROM sessions WHERE NOT test`;
const MESSAGES = `SELECT source AS phone, session_id AS "sessionId", fate, received_at AS "receivedAt" FROM messages
  WHERE direction = 'in'`;
const EVENTS = `SELECT events.id, events.type, events.session_id AS "sessionId", dispatched_at IS NOT NULL AS "isDispatched",
  deliveries.status AS delivery FROM events LEFT JOIN deliveries ON deliveries.id = events.id`;
const CODES = `SELECT session_id AS "sessionId", state, attempts FROM outbound_messages`;
/** Work that has an end: it is waited for before the rows are read. */
const UNSETTLED = `SELECT
  (SELECT count(*) FROM sessions WHERE status = 'pending')::int AS sessions,
  (SELECT count(*) FROM events WHERE dispatched_at IS NULL)::int AS events,
  (SELECT count(*) FROM deliveries WHERE status = 'pending')::int AS deliveries,
  (SELECT count(*) FROM outbound_messages WHERE state IN ('queued', 'sending'))::int AS codes`;

/** The phones of sessions that have no end yet. */
export async function readPendingPhones(client: pg.Client): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ phone: string }>(`SELECT phone FROM sessions WHERE status = 'pending'`);
  return new Set(rows.map(({ phone }) => phone));
}

export type Unsettled = Readonly<Record<'sessions' | 'events' | 'deliveries' | 'codes', number>>;

/** Whether an event of a card is stored and not applied. */
export async function hasCardEvents(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('SELECT FROM card_events WHERE handled_at IS NULL LIMIT 1');
  return rows.length > 0;
}

export async function readUnsettled(client: pg.Client): Promise<Unsettled> {
  const [row] = (await client.query<Unsettled>(UNSETTLED)).rows;
  if (row === undefined) throw new Error('a SELECT without FROM returns a row');
  return row;
}

const sessionId = <Row extends { readonly sessionId: string | null }>(row: Row): Row => ({
  ...row,
  sessionId: row.sessionId === null ? null : renderId('sess', row.sessionId),
});

/** Senders are stored as the carrier wrote them: digits without a plus. */
const withPlus = (digits: string): string => (digits.startsWith('+') ? digits : `+${digits}`);

export async function readFinalRows(client: pg.Client): Promise<FinalRows> {
  const rows = async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> =>
    (await client.query<Row>(text)).rows;
  const sessions = await rows<FinalSession & pg.QueryResultRow>(SESSIONS);
  const messages = await rows<FinalMessage & pg.QueryResultRow>(MESSAGES);
  const events = await rows<FinalEvent & pg.QueryResultRow>(EVENTS);
  const codes = await rows<FinalCode & pg.QueryResultRow>(CODES);
  return {
    sessions: sessions.map((row) => ({ ...row, id: renderId('sess', row.id) })),
    messages: messages.map((row) => ({ ...sessionId(row), phone: withPlus(row.phone) })),
    events: events.map((row) => ({ ...sessionId(row), id: renderId('evt', row.id) })),
    codes: codes.map(sessionId),
  };
}
