import { randomUUID } from 'node:crypto';
import { Database, DataError } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-calls.js';
import { Carrier } from '../support/carrier.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { GatewayBeside } from '../support/gateway-beside.js';
import { sms } from '../support/gateway-harness.js';
import { RbmHarness } from '../support/rbm-harness.js';
import { until } from '../support/until.js';

// An attacker who controls a gateway has its database connection: its rights, and that they are sufficient for a
// gateway.

const AGENT = 'acme_agent';
const WITHIN_MS = 20_000;
const INSUFFICIENT_PRIVILEGE = '42501';

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
  gateway = await GatewayBeside.start(harness, await platform.environment('gateway'));
  platform.listensAt('gateway', gateway.ports.http);
  carrier = new Carrier('out');
  const url = gateway.environment['DATABASE_URL'] ?? '';
  stolen = await Database.open({ url, poolMax: 2, applicationName: 'attack', entities: [], onError: () => undefined });
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

  it('sends a code, which approves, and settles it by the receipt of the carrier', async () => {
    const admin = new AdminCalls(harness);
    const port = await carrier.listen();
    const draft = { name: 'out', carrier: 'out', host: '127.0.0.1', port, systemId: 'us', password: 'secret08' };
    const bind = await admin.post('binds', draft);
    expect(bind.status).toBe(201);
    await admin.post('routes', { prefix: '+', bindId: bind.json['id'] });
    await until('the bind is bound', WITHIN_MS, () => carrier.isBound);
    const made = await harness.create({ phone: '+12125550123', channel: 'sms_fallback' });
    expect((await harness.call(`/v1/verify/${idOf(made)}/send-sms`, { method: 'POST' })).status).toBe(200);
    await until('the code is sent', WITHIN_MS, () => carrier.submits.length > 0);
    const code = /\b\d{6}\b/.exec(String(textOf(carrier.submits[0]?.['short_message'])))?.[0];
    const check = await harness.call(`/v1/verify/${idOf(made)}/check`, { method: 'POST', body: { code } });
    expect(check.json['status']).toBe('approved');
    expect(await carrier.sendReceipt(carrier.idOf(0), 'DELIVRD')).toBe(0);
    await until('the receipt is stored', WITHIN_MS, async () => {
      const [row] = await harness.database.query<{ state: string }>('SELECT state FROM outbound_messages');
      return row?.state === 'delivered';
    });
  });

  it('sends a card, whose tap approves', async () => {
    await harness.database.query('UPDATE brands SET rcs_agent_id = $1', [AGENT]);
    const phone = '+14155570001';
    platform.phone(phone, {});
    const made = await harness.create({ phone, channel: 'rcs' });
    expect(made.json['channel']).toBe('rcs');
    platform.rbm.platform.tap(platform.messages(phone)[0]?.messageId ?? '', 0);
    await reaches(idOf(made), 'approved');
  });
});

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
