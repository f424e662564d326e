import net, { type AddressInfo } from 'node:net';
import { AccountStore } from '@countersign/accounts/accounts';
import { createWebhookSecret } from '@countersign/keys';
import { newId, parseId, type Uuid } from '@countersign/ids';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TargetRules } from '../../apps/control-plane/src/targets/target.js';
import { guardedAgent } from '../../apps/control-plane/src/webhooks/guarded-agent.js';
import { WebhookPoster } from '../../apps/control-plane/src/webhooks/webhook-poster.js';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { asOwner } from '../support/database.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const WITHIN_MS = 20_000;
/** Less than the 15 s of an attempt: a webhook that waits for hanging ones to end does not arrive within it. */
const AT_ONCE_MS = 8_000;
const rules = new TargetRules({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true });

/** A TCP server on every address of this computer, the connections to it, and the most at a time. */
class Listener {
  readonly open = new Set<net.Socket>();
  most = 0;
  accepted = 0;
  private readonly server: net.Server;

  /** @param answer by default, nothing is answered */
  constructor(answer: (socket: net.Socket) => void = (socket) => void socket.resume()) {
    this.server = net.createServer((socket) => {
      this.open.add(socket);
      this.accepted += 1;
      this.most = Math.max(this.most, this.open.size);
      socket.on('error', () => undefined).on('close', () => this.open.delete(socket));
      answer(socket);
    });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '0.0.0.0', 4_096, resolve));
    return this;
  }

  /** Waits until the most connections at a time have not grown for a second. */
  async untilFull(): Promise<void> {
    let [most, sinceMs] = [0, performance.now()];
    await until('no more connections are opened', WITHIN_MS, () => {
      if (this.most > most) [most, sinceMs] = [this.most, performance.now()];
      return most > 0 && performance.now() - sinceMs > 1_000;
    });
  }

  close(): void {
    this.server.close();
    for (const socket of this.open) socket.destroy();
  }
}

describe('A17 webhook receivers that hang', () => {
  let hanging: Listener;
  let receiver: Receiver;
  let plane: ControlPlaneHarness;

  beforeEach(async () => {
    hanging = await new Listener().listen();
    receiver = await startReceiver();
    plane = await ControlPlaneHarness.open();
  });
  afterEach(async () => {
    hanging.close();
    await plane.close();
    await receiver.close();
  });

  /** Adds `count` due deliveries of the account, five for each of its hosts, which are 127.<network>.*.*. */
  const addHanging = (accountId: Uuid, network: number, count: number, test = false): Promise<unknown> =>
    plane.database.query(
      `WITH made AS (SELECT (substr($1, 1, 13) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id,
         'http://127.' || $4::int || '.' || n / 5 / 250 || '.' || 1 + n / 5 % 250 || ':' || $3::int || '/' AS url
         FROM generate_series(1, $5::int) AS n),
       stored AS (INSERT INTO events (id, type, account_id, data, webhook_url, occurred_at, dispatched_at, test)
         SELECT id, 'webhook.test', $2, '{}', url, now(), now(), $6 FROM made)
       INSERT INTO deliveries (id, account_id, type, url, occurred_at, next_attempt_at, test)
       SELECT id, $2, 'webhook.test', url, now(), now() - interval '1 minute', $6 FROM made`,
      [plane.clock.newId(), accountId, hanging.port, network, count, test],
    );

  const arrives = async (): Promise<void> => {
    const { json } = await plane.create({ webhookUrl: receiver.url });
    await plane.approve(String(json['id']));
    await until('the webhook arrives beside them', AT_ONCE_MS, () => receiver.received.length > 0);
  };

  it('A17 of four accounts leave places for a fifth, whose webhook is sent at once', async () => {
    const accounts = new AccountStore({ keys: plane.keys, newId: () => plane.clock.newId() });
    for (const network of [41, 42, 43, 44]) {
      const { account } = await accounts.createAccount(plane.database, { name: `Flooder ${network}` });
      await addHanging(account.id, network, 2_000);
    }
    await hanging.untilFull();
    expect(hanging.most).toBeGreaterThan(100);
    await arrives();
  }, 90_000);

  it('A17 of test deliveries leave places for the live ones of the same account', async () => {
    await addHanging(parseId('acct', plane.demo.accountId) ?? '', 45, 2_000, true);
    await hanging.untilFull();
    // A quarter of the 308 that are free, and maybe ended ones that are not closed yet.
    expect(hanging.most).toBeLessThan(2 * 76);
    await arrives();
  }, 90_000);
});

describe('A17 an account that changes its webhook URL thousands of times', () => {
  const CHANGES = 2_000;
  const AUDIT_ENTRIES = 5_000;
  const DELIVERIES = 100;
  /** Changes the URL of an account, each time to a new one of 2,000 characters. */
  const CHANGE_OFTEN = `
    CREATE FUNCTION change_often(account uuid, times integer, beginning text) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      FOR n IN 1..times LOOP
        UPDATE accounts SET default_webhook_url = beginning || '?' || n || repeat(md5(n::text), 62) WHERE id = account;
      END LOOP;
    END $$`;
  /** Entries of such changes, which come before the others in the index. $1 account, $2 how many, $3 beginning of the URLs. */
  const AUDIT_OFTEN = `
    INSERT INTO audit_entries (id, at, actor, action, resource, resource_id, before, after)
    SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, now(), 'key_x', 'update', 'accounts', $1,
      json_build_object('defaultWebhookUrl', $3 || '?' || n || repeat(md5(n::text), 62)), '{}' FROM generate_series(1, $2) n`;

  it('A17 stops no webhook of others: its own go to the URLs of their moment, and a retry of another is made in time', async () => {
    const [own, other] = [await startReceiver(), await startReceiver()];
    const plane = await ControlPlaneHarness.open();
    const admin = new AdminCalls(plane);
    const accountId = parseId('acct', plane.demo.accountId) ?? '';
    const hold = (paused: boolean): Promise<unknown> =>
      plane.database.query(
        `UPDATE queue_switches SET paused_at = CASE WHEN $1 THEN now() END WHERE name = 'webhooks'`,
        [paused],
      );
    await plane.database.query(
      `UPDATE accounts SET webhook_events = '{verification.cancelled}', default_webhook_url = $2 WHERE id = $1`,
      [accountId, own.url],
    );
    await asOwner(plane.home, CHANGE_OFTEN);
    await hold(true);
    for (let made = 0; made < DELIVERIES; made += 1) {
      const { json } = await plane.create();
      await admin.patch(`accounts/${plane.demo.accountId}`, { defaultWebhookUrl: `${own.url}/${made}` });
      expect((await plane.call(`/v1/verify/${String(json['id'])}`, { method: 'DELETE' })).status).toBe(204);
    }
    await until('all are dispatched', WITHIN_MS, async () => {
      const [row] = await plane.database.query<{ made: number }>(`SELECT count(*)::int AS made FROM deliveries`);
      return row?.made === DELIVERIES;
    });
    await plane.database.query(`UPDATE deliveries SET body_sealed = NULL`);
    await asOwner(plane.home, `SELECT change_often($1, $2, $3)`, [accountId, CHANGES, own.url]);
    await asOwner(plane.home, AUDIT_OFTEN, [plane.demo.accountId, AUDIT_ENTRIES, own.url]);
    // A process that was started later remembers no URL.
    await plane.stop();
    await plane.start();
    other.answerWith(500);
    const { json } = await plane.create({ webhookUrl: other.url });
    await hold(false);
    await plane.approve(String(json['id']));
    await until('the other one is retried', WITHIN_MS, () => other.received.length > 1);
    await until('its own are sent', WITHIN_MS, () => own.sessionsSeen() === DELIVERIES);
    expect(plane.log.filter((line) => line.includes('statement timeout'))).toEqual([]);
    await plane.close();
    await Promise.all([own.close(), other.close()]);
  }, 90_000);
});

describe('A17 webhook receivers that answer slowly', () => {
  it('A17 hold 48 places of an account beyond 2 s, the slowest are ended, and 12 of its test deliveries', async () => {
    const hanging = await new Listener().listen();
    const poster = new WebhookPoster(rules, guardedAgent(rules, null));
    const accountId = newId(Date.now());
    const post = (host: number, test: boolean) =>
      poster.post({
        owner: { accountId, test },
        eventId: newId(Date.now()),
        url: `http://127.46.${test ? 1 : 0}.${host}:${hanging.port}/hook`,
        body: '{}',
        secrets: [createWebhookSecret()],
        nowMs: Date.now(),
      });
    const results = await Promise.all([
      ...Array.from({ length: 58 }, (_, at) => post(at + 1, false)),
      ...Array.from({ length: 17 }, (_, at) => post(at + 1, true)),
    ]);
    const errors = results.map((result) => (result.kind === 'failed' ? result.error : result.kind));
    const slow = (count: number): string[] => Array.from({ length: count }, () => 'TooManySlowReceivers');
    const rest = (count: number): string[] => Array.from({ length: count }, () => 'timeout');
    expect(errors).toEqual([...slow(10), ...rest(48), ...slow(5), ...rest(12)]);
    await poster.close();
    hanging.close();
  });
});
