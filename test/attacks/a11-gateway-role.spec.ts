import { randomUUID } from 'node:crypto';
import { parseId, renderId, type Uuid } from '@countersign/ids';
import { type Database, DataError, RowLease } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-calls.js';
import { Carrier } from '../support/carrier.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { GatewayBeside } from '../support/gateway-beside.js';
import { sms } from '../support/gateway-harness.js';
import { RbmHarness } from '../support/rbm-harness.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { stolenConnection } from '../support/stolen-connection.js';

// An attacker who controls a gateway has its database connection: its rights, and that they are sufficient for a
// gateway.

const AGENT = 'acme_agent';
const WITHIN_MS = 20_000;
const INSUFFICIENT_PRIVILEGE = '42501';
const CHECK_VIOLATION = '23514';

let harness: ControlPlaneHarness;
let platform: RbmHarness;
let gateway: GatewayBeside;
let carrier: Carrier;
/** A connection with the gateway's DATABASE_URL. */
let stolen: Database;

beforeAll(async () => {
  platform = await RbmHarness.open();
  // Queues on PostgreSQL, so that their tables are used by the same role.
  harness = await ControlPlaneHarness.open({ RCS_DELIVERY_WAIT_MS: '8000', REDIS_URL: '' });
  // Before the first request: control planes keep a copy of the brand.
  await harness.database.query('UPDATE brands SET rcs_agent_id = $1', [AGENT]);
  gateway = await GatewayBeside.start(harness, await platform.environment('gateway'));
  platform.listensAt('gateway', gateway.ports.http);
  carrier = new Carrier('out');
  const admin = new AdminCalls(harness);
  const port = await carrier.listen();
  const draft = { name: 'out', carrier: 'out', host: '127.0.0.1', port, systemId: 'us', password: 'secret08' };
  const bind = await admin.post('binds', draft);
  expect(bind.status).toBe(201);
  await admin.post('routes', { prefix: '+', bindId: bind.json['id'] });
  await until('the bind is bound', WITHIN_MS, () => carrier.isBound);
  const url = gateway.environment['DATABASE_URL'] ?? '';
  stolen = await stolenConnection(url);
});
afterAll(async () => {
  await stolen.close();
  await platform.close();
  await gateway.stop();
  await carrier.close();
  await harness.close();
});

const idOf = ({ json }: Answer): string => String(json['id']);
const reaches = (id: string, status: string): Promise<void> =>
  until(`the session is ${status}`, WITHIN_MS, async () => {
    return (await harness.call(`/v1/verify/${id}`)).json['status'] === status;
  });
const refused = (statement: string, values: readonly unknown[] = []): Promise<string> =>
  stolen.query(statement, [...values]).then(
    () => 'done',
    (error: unknown) => (error instanceof DataError ? error.sqlState : String(error)),
  );

describe('a gateway with the role of gateways', () => {
  it('is the one that connects', async () => {
    const [row] = await harness.database.query<{ roles: string[] }>(
      `SELECT array_agg(DISTINCT usename::text) AS roles FROM pg_stat_activity WHERE application_name = 'countersign-gateway'`,
    );
    expect(row?.roles).toEqual(['countersign_gateway']);
  });

  it('approves by a message of the phone', async () => {
    await gateway.system({ systemId: 'carrier' });
    const esme = await gateway.esme('carrier');
    const made = await harness.create({ channel: 'sms_fallback' });
    const text = decodeURIComponent(String(made.json['fallbackUri']).split('?body=')[1] ?? '');
    expect((await esme.send('submit_sm', sms(text))).command_status).toBe(0);
    await reaches(idOf(made), 'approved');
  });

  it('sends a code, which approves, and settles it by the receipt of the carrier', () =>
    approvedByCode('+12125550123'));

  it('sends a card, whose tap approves', () => approvedByCard('+14155570001'));
});

async function approvedByCode(phone: string): Promise<void> {
  const sent = carrier.submits.length;
  const made = await harness.create({ phone, channel: 'sms_fallback' });
  expect((await harness.call(`/v1/verify/${idOf(made)}/send-sms`, { method: 'POST' })).status).toBe(200);
  await until('the code is sent', WITHIN_MS, () => carrier.submits.length > sent);
  const code = /\b\d{6}\b/.exec(String(textOf(carrier.submits[sent]?.['short_message'])))?.[0];
  const check = await harness.call(`/v1/verify/${idOf(made)}/check`, { method: 'POST', body: { code } });
  expect(check.json['status']).toBe('approved');
  expect(await carrier.sendReceipt(carrier.idOf(sent), 'DELIVRD')).toBe(0);
  await until('the receipt is stored', WITHIN_MS, async () => {
    const rows = await harness.database.query<{ state: string }>('SELECT state FROM outbound_messages');
    return rows.every(({ state }) => state === 'delivered');
  });
}

async function approvedByCard(phone: string): Promise<void> {
  platform.phone(phone, {});
  const made = await harness.create({ phone, channel: 'rcs' });
  expect(made.json['channel']).toBe('rcs');
  platform.rbm.platform.tap(platform.messages(phone)[0]?.messageId ?? '', 0);
  await reaches(idOf(made), 'approved');
}

function textOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'message' in message ? message.message : message;
}

const OWNER_KEY = `INSERT INTO admin_keys (id, name, role, prefix, digest) VALUES ($1, 'mine', 'owner', 'csk_admin_', $2)`;
const API_KEY = `
  INSERT INTO api_keys (id, account_id, kind, name, scopes, prefix, digest)
  VALUES ($1, (SELECT id FROM accounts LIMIT 1), 'live', 'mine', '{}', 'csk_live_', $2)`;
const AUDIT_ENTRY = `
  INSERT INTO audit_entries (id, at, actor, action, resource, resource_id)
  VALUES ($1, now(), 'root', 'update', 'brands', $2)`;

describe('an attacker with the database connection of a gateway', () => {
  /** The role lacks the right, and the statement is valid: the role of control planes may run it. */
  async function isRefused(statement: string, values: readonly unknown[] = []): Promise<void> {
    expect(await refused(statement, values)).toBe(INSUFFICIENT_PRIVILEGE);
    await harness.database.query(`EXPLAIN ${statement}`, [...values]);
  }

  it('A11 makes no admin key and no API key, and reads the digests of none', async () => {
    await isRefused(OWNER_KEY, [randomUUID(), Buffer.alloc(32, 7)]);
    await isRefused(API_KEY, [randomUUID(), Buffer.alloc(32, 7)]);
    await isRefused('SELECT digest FROM api_keys UNION ALL SELECT digest FROM admin_keys');
  });

  it('A11 makes no admin key an owner, and writes nothing into the audit log', async () => {
    await isRefused(`UPDATE admin_keys SET role = 'owner'`);
    await isRefused(AUDIT_ENTRY, [randomUUID(), 'brd_1']);
  });

  it('A18 points no webhook of an account elsewhere, and no delivery', async () => {
    await isRefused(`UPDATE accounts SET default_webhook_url = 'https://evil.example'`);
    await isRefused(`UPDATE deliveries SET url = 'https://evil.example'`);
  });

  it('A20 reads no webhook secret, though it has the key that would open it', async () => {
    await isRefused('SELECT webhook_secret_sealed FROM accounts');
    await isRefused('SELECT test_webhook_secret_sealed FROM accounts');
    await isRefused('SELECT unnest(previous_webhook_secrets_sealed) FROM accounts');
  });

  it('A3 reads no digest of a code', async () => {
    await isRefused('SELECT otp_digests FROM sessions');
  });
});

/** The columns of an event that a gateway writes; `occurredAt` as PostgreSQL reads it. */
interface Forged {
  readonly type: string;
  readonly accountId: Uuid;
  readonly sessionId: Uuid | null;
  readonly url: string | null;
  readonly test: boolean;
  readonly data: string;
  readonly occurredAt: string;
}

const FORGE = `
  INSERT INTO events (id, type, account_id, session_id, occurred_at, data, test, webhook_url)
  VALUES ($1, $2, $3, $4, $5::text::timestamptz, $6::text::json, $7, $8)`;
const OTHER_ACCOUNT = `
  INSERT INTO accounts (id, name, webhook_secret_sealed) SELECT $1, 'Other', webhook_secret_sealed FROM accounts LIMIT 1`;

describe('an event that was written with the database connection of a gateway', () => {
  let evil: Receiver;
  let good: Receiver;
  let accountId: Uuid;

  beforeAll(async () => {
    [evil, good] = [await startReceiver(), await startReceiver()];
    accountId = parseId('acct', harness.demo.accountId) ?? '';
  });
  afterAll(() => Promise.all([evil.close(), good.close()]));

  async function approved(changes: Readonly<Record<string, unknown>> = {}): Promise<Uuid> {
    const id = idOf(await harness.create({ channel: 'sms_fallback', ...changes }));
    await harness.approve(id);
    return parseId('sess', id) ?? '';
  }

  async function forge(changes: Partial<Forged>): Promise<Uuid> {
    const id = harness.clock.newId();
    const genuine = { type: 'verification.completed', accountId, sessionId: null, test: false, data: '{}' };
    const event: Forged = { ...genuine, url: evil.url, occurredAt: 'now', ...changes };
    const { type, sessionId, occurredAt, data, test, url } = event;
    await stolen.query(FORGE, [id, type, event.accountId, sessionId, occurredAt, data, test, url]);
    return id;
  }

  const refusals = (id: Uuid): string[] =>
    harness.log.filter((line) => line.includes(`${renderId('evt', id)} is not sent`));

  /** Each is logged once and has no delivery, though another event behind it is sent. */
  async function areRefused(reasons: Readonly<Record<Uuid, string>>): Promise<void> {
    const ids = Object.keys(reasons);
    await until('the events are refused', WITHIN_MS, () => ids.every((id) => refusals(id).length > 0));
    const sentBefore = good.received.length;
    await forge({ sessionId: await approved({ webhookUrl: good.url }), url: good.url });
    await until('later events are sent', WITHIN_MS, () => good.received.length >= sentBefore + 2);
    for (const id of ids) expect(refusals(id)).toEqual([expect.stringContaining(reasons[id] ?? '')]);
    const unblocked = `SELECT url FROM deliveries WHERE id = ANY ($1::uuid[]) AND status <> 'blocked'`;
    expect(await harness.database.query(unblocked, [ids])).toEqual([]);
    expect(evil.received).toEqual([]);
  }

  it('A27 sends authEntropy to no URL but that of the session', async () => {
    const id = await forge({ sessionId: await approved({ webhookUrl: good.url }) });
    await areRefused({ [id]: 'its URL is neither that of its session nor one of its account' });
    const metrics = await (await fetch(`${harness.opsUrl}/metrics`)).text();
    expect(metrics).toMatch(/events_refused_total\{[^}]*fault="url"[^}]*\} 1\n/);
  });

  it('A27 sends authEntropy to no URL but those that its account has or had', async () => {
    const admin = new AdminCalls(harness);
    const setDefault = async (defaultWebhookUrl: string | null): Promise<void> => {
      expect((await admin.patch(`accounts/${harness.demo.accountId}`, { defaultWebhookUrl })).status).toBe(200);
    };
    const [earlier, now] = [`${good.url}/earlier`, `${good.url}/now`];
    await setDefault(earlier);
    const sessionId = await approved();
    await setDefault(now);
    await areRefused({ [await forge({ sessionId })]: 'its URL is neither' });
    // Of its moment: an event that is dispatched after a change of the account goes where it went before.
    for (const url of [earlier, now]) {
      const id = await forge({ sessionId, url });
      await until('it is sent', WITHIN_MS, () =>
        good.received.some(({ headers }) => headers['webhook-id'] === renderId('evt', id)),
      );
    }
    await setDefault(null);
  });

  it('A13 shows a session to no other account, and none of live mode as a test', async () => {
    const other = randomUUID();
    await harness.database.query(OTHER_ACCOUNT, [other]);
    const sessionId = await approved({ webhookUrl: good.url });
    await areRefused({
      [await forge({ sessionId, url: good.url, accountId: other })]: 'its session is of another account',
      [await forge({ sessionId, url: good.url, test: true })]: 'its session is of the other mode',
    });
  });

  it('A20 says of a session only what its row says, and of no session nothing', async () => {
    const sessionId = await approved({ webhookUrl: good.url });
    const nobody = harness.clock.newId();
    const [code, none] = ['verification.otp_delivery', 'does not exist, or it should have none'];
    await areRefused({
      [await forge({ sessionId, url: good.url, type: 'verification.denied' })]: 'not in the state that it names',
      [await forge({ sessionId: nobody })]: none,
      [await forge({ sessionId: nobody, type: code })]: none,
      [await forge({ sessionId: null, type: code })]: none,
      [await forge({ sessionId, type: code })]: 'its URL is neither',
    });
  });

  it('A20 is signed with no type, data or URL of its own', async () => {
    const sessionId = await approved({ webhookUrl: good.url });
    const long = { type: 'verification.otp_delivery', data: JSON.stringify('x'.repeat(2_000_000)) };
    await areRefused({
      [await forge({ sessionId, type: 'x","data":{},"type":"y' })]: 'its type does not exist',
      [await forge({ type: 'webhook.test' })]: 'tests are dispatched by their request',
      [await forge({ type: 'webhook.disabled' })]: 'other events of an account have no URL',
      [await forge({ sessionId, url: good.url, ...long })]: 'it has no data, or too much',
    });
  });

  it('A10 counts the codes of a session as settled once', async () => {
    const settled = async (): Promise<unknown> =>
      harness.database.query('SELECT scope, slot, settled, approvals FROM otp_approvals ORDER BY scope, slot');
    await approvedByCode('+12125550199');
    const [session] = await harness.database.query<{ id: Uuid }>(
      `SELECT session_id AS id FROM outbound_messages WHERE destination = '+12125550199'`,
    );
    const dispatched = (id: Uuid): Promise<void> =>
      until('the event is dispatched', WITHIN_MS, async () => {
        const rows = await harness.database.query('SELECT FROM events WHERE id = $1 AND dispatched_at IS NOT NULL', [
          id,
        ]);
        return rows.length === 1;
      });
    const sessionId = session?.id ?? '';
    const [genuine] = await harness.database.query<{ id: Uuid }>(
      `SELECT id FROM events WHERE session_id = $1 AND type = 'verification.completed'`,
      [sessionId],
    );
    await dispatched(genuine?.id ?? '');
    const before = await settled();
    expect(before).not.toEqual([]);
    await stolen.query(`UPDATE sessions SET ended_at = now() + interval '90 days' WHERE id = $1`, [sessionId]);
    await dispatched(await forge({ sessionId, url: null }));
    expect(await settled()).toEqual(before);
    expect(refusals(genuine?.id ?? '')).toEqual([]);
  });

  it.each(['infinity', '-infinity', '0044-03-15 BC', '290000-01-01'])('A37 has no time of %s', async (occurredAt) => {
    const forged = forge({ sessionId: harness.clock.newId(), occurredAt });
    await expect(forged).rejects.toMatchObject({ sqlState: CHECK_VIOLATION });
  });
});

describe('a row that was written with the database connection of a gateway', () => {
  beforeAll(async () => {
    await approvedByCode('+12125550124');
    await approvedByCard('+14155570002');
  });

  it('A37 keeps control planes from no task by a lease without an end', async () => {
    await stolen.query(`INSERT INTO row_leases (name, owner, expires_at) VALUES ('of a test', $1, 'infinity')`, [
      randomUUID(),
    ]);
    const lease = new RowLease(harness.database, 'of a test', randomUUID(), 10_000);
    expect(await lease.acquire()).toBe(true);
    const other = new RowLease(harness.database, 'of a test', randomUUID(), 10_000);
    expect(await other.acquire()).toBe(false);
  });

  it('A37 records no key, so that no process with the next one is kept from its start', async () => {
    const record = `INSERT INTO key_checks (purpose, version, value, fingerprint) VALUES ('entropy', 2, '\\x00', '00')`;
    expect(await refused(record)).toBe(INSUFFICIENT_PRIVILEGE);
    await harness.database.query(`EXPLAIN ${record}`);
  });

  it('A37 drops no partition, whatever retention it names', async () => {
    const drop = `SELECT drop_day_partition('sessions', current_date - 10, 4)`;
    expect(await refused(drop)).toBe(INSUFFICIENT_PRIVILEGE);
    await harness.database.query(drop);
  });

  /** By table: the times that the role may change. */
  const WRITABLE_TIMES = {
    sessions: ['ended_at', 'sender_mismatch_at'],
    outbound_messages: ['submitted_at', 'ended_at'],
    cards: ['sent_at', 'delivered_at', 'read_at', 'tapped_at', 'settled_at'],
    card_events: ['handled_at'],
  };
  const BIND = `INSERT INTO bind_connections (bind_id, slot) VALUES (gen_random_uuid(), 0)`;
  const PHONE = `INSERT INTO card_phones (phone, changed_at, denials) VALUES ('+1', now(), $1::timestamptz[])`;

  it.each([
    ['codes', `UPDATE sessions SET otp_digests = array_fill('\\x00'::bytea, ARRAY[700000])`],
    ['long codes', `UPDATE sessions SET otp_digests = ARRAY[convert_to(repeat('x', 2000), 'UTF8')]`],
    [
      'the bus',
      `INSERT INTO bus_payloads (id, payload) VALUES (gen_random_uuid(), convert_to(repeat('x', 5000000), 'UTF8'))`,
    ],
    [
      'cards of a phone',
      `INSERT INTO card_phones (phone, changed_at, recent)
       VALUES ('+1', now(), array_fill(gen_random_uuid(), ARRAY[10000]))`,
    ],
  ])('A37 has no more of %s than a process writes', async (_, statement) => {
    await harness.create({ channel: 'sms_fallback' });
    expect(await refused(statement)).toBe(CHECK_VIOLATION);
  });

  it('A37 has no status of a bind that is larger than one', async () => {
    expect(await refused(BIND)).toBe('done');
    const statement = `UPDATE bind_connections SET status = to_jsonb(repeat('x', 100000))`;
    expect(await refused(statement)).toBe(CHECK_VIOLATION);
  });

  it.each(['infinity', '-infinity', '0044-03-15 BC', '290000-01-01'])(
    'A37 changes no time of a session, a code or a card to %s',
    async (time) => {
      await harness.create({ channel: 'sms_fallback' });
      for (const [table, columns] of Object.entries(WRITABLE_TIMES)) {
        const [row] = await harness.database.query(`SELECT id FROM ${table} LIMIT 1`);
        expect(row).toBeDefined();
        for (const column of columns) {
          // Of a pending row the end is null by another check.
          const ended = column === 'ended_at' || column === 'settled_at' ? `WHERE ${column} IS NOT NULL` : '';
          const change = `UPDATE ${table} SET ${column} = $1::text::timestamptz ${ended}`;
          expect([column, await refused(change, ['now'])]).toEqual([column, 'done']);
          expect([column, await refused(change, [time])]).toEqual([column, CHECK_VIOLATION]);
        }
      }
      expect(await refused(PHONE, [[time]])).toBe(CHECK_VIOLATION);
    },
  );
});
