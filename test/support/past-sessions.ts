import { randomBytes } from 'node:crypto';
import { PriceStore, type PricedChannel } from '@countersign/accounts/prices';
import { newId, type Uuid } from '@countersign/ids';
import type { Database } from '@countersign/postgres';
import type { SessionStatus } from '@countersign/session/rules';

/** A session that was created at a given time. */
export interface PastSession {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly brandId: Uuid;
  readonly createdMs: number;
  readonly ttlSeconds: number;
  readonly status: SessionStatus;
  readonly channel: 'rcs' | 'sms_fallback';
  readonly country: string;
  readonly test: boolean;
}

export type PastSessionDraft = Pick<PastSession, 'accountId' | 'brandId' | 'createdMs'> & Partial<PastSession>;

const INSERT_PAST = `
  INSERT INTO sessions (id, account_id, brand_id, phone, country, test, status, channel, token_digest, client_challenge,
    brand_slug, brand_name, instruction, inbound_number, allow_sms_otp, metadata, entropy_key_version, created_at,
    expires_at, ended_at, approved_by)
  SELECT id, account_id, brand_id, '+14155552671', country, test, status, channel, decode(token_digest, 'hex'),
    repeat('ab', 32), 'ACME', 'Acme', 'Send this.', '+14155550100', true, '{}', 1, created, expires,
    CASE WHEN status <> 'pending' THEN expires END, CASE WHEN status = 'approved' THEN 'mo' END
  FROM (SELECT *, to_timestamp(created_ms / 1000.0) AS created, to_timestamp(created_ms / 1000.0 + ttl) AS expires
    FROM json_to_recordset($1::json) AS input (id uuid, account_id uuid, brand_id uuid, country text, test boolean,
      status text, channel text, token_digest text, created_ms numeric, ttl integer)) AS timed`;

/** Inserts sessions of the past into their partitions, which must exist. */
export async function storePast(database: Database, drafts: readonly PastSessionDraft[]): Promise<PastSession[]> {
  const sessions = drafts.map((draft) => ({
    id: newId(draft.createdMs),
    ttlSeconds: 90,
    status: 'approved' as const,
    channel: 'sms_fallback' as const,
    country: 'US',
    test: false,
    ...draft,
  }));
  const rows = sessions.map((session) => ({
    id: session.id,
    account_id: session.accountId,
    brand_id: session.brandId,
    country: session.country,
    test: session.test,
    status: session.status,
    channel: session.channel,
    token_digest: randomBytes(32).toString('hex'),
    created_ms: session.createdMs,
    ttl: session.ttlSeconds,
  }));
  await database.query(INSERT_PAST, [JSON.stringify(rows)]);
  return sessions;
}

/** Inserts a code that was submitted a second after its session's creation, at this price in US dollars. */
export async function storeSubmittedCode(database: Database, session: PastSession, costUsd: string): Promise<void> {
  await database.query(
    `INSERT INTO outbound_messages (id, session_id, account_id, test, destination, destination_prefix, country, sender,
       state, created_at, expires_at, submitted_at, cost_usd)
     VALUES ($1, $2, $3, $4, '+14155552671', '+1415555', $5, 'ACME', 'submitted', $6, $6, $6, $7)`,
    [
      newId(session.createdMs + 1_000),
      session.id,
      session.accountId,
      session.test,
      session.country,
      new Date(session.createdMs + 1_000),
      costUsd,
    ],
  );
}

/** Inserts a price that is valid from that time on. */
export async function storePrice(
  database: Database,
  price: { readonly channel: PricedChannel; readonly country: string; readonly usd: string; readonly fromMs: number },
): Promise<void> {
  const { channel, country, usd, fromMs } = price;
  await new PriceStore({ newId: () => newId(fromMs) }).create(database, {
    channel,
    country,
    usd,
    from: new Date(fromMs),
  });
}
