import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { AccountStore } from '@countersign/accounts/accounts';
import { verifyWebhook, WebhookVerificationError } from '@countersign/sdk';
import { createWebhookSecret } from '@countersign/keys';
import { newId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guardedAgent } from '../../apps/control-plane/src/webhooks/guarded-agent.js';
import { TargetRules } from '../../apps/control-plane/src/targets/target.js';
import { WebhookPoster } from '../../apps/control-plane/src/webhooks/webhook-poster.js';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { startNameServer } from '../support/name-server.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { WebhookCalls } from '../support/webhook-calls.js';

const WITHIN_MS = 20_000;

/** As in production: no private targets. */
let strict: ControlPlaneHarness;

beforeAll(async () => {
  strict = await ControlPlaneHarness.open({ WEBHOOK_ALLOWED_CIDRS: '', WEBHOOK_ALLOW_HTTP: 'false' });
});
afterAll(() => strict.close());

/** Addresses of this computer, of private networks and of cloud metadata, in many spellings. */
const INSIDE = [
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0177.0.0.1/',
  'https://0x7f.0.0.1/',
  'https://2130706433/',
  'https://017700000001/',
  'https://0x7f000001/',
  'https://127.0.0.1./',
  'https://１２７.0.0.1/',
  'https://0.0.0.0/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[fc00::1]/',
  'https://[fe80::1]/',
  'https://[ff02::1]/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.0.1/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://[fd00:ec2::254]/',
  'https://192.0.0.192/',
  'https://198.18.0.1/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  // Cloud services for their own machines; the first has a public address.
  'https://168.63.129.16/metadata/',
  'https://0xa83f8110/',
  'https://168.4161808/',
  'https://[::ffff:168.63.129.16]/',
  'https://[64:ff9b::a83f:8110]/',
  'https://[2002:a83f:8110::]/',
  'https://100.100.100.200/latest/meta-data/',
  'https://[64:ff9b::6464:64c8]/',
  'https://169.254.170.2/v2/credentials/',
  'https://[fd20:ce::254]/',
  'https://[fd00:c1::a9fe:a9fe]/',
  'https://[fd00:42::42]/',
];
/** Metadata and credentials of clouds, as hosts of a URL. */
const CLOUDS = [
  '168.63.129.16',
  '169.254.169.254',
  '169.254.170.2',
  '192.0.0.192',
  '100.100.100.200',
  '[::ffff:100.100.100.200]',
  '[fe80::a9fe:a9fe]',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '[fd00:c1::a9fe:a9fe]',
  '[fd00:42::42]',
];
/** Ports of services that are not web servers, with public names and addresses. */
const SERVICES = [22, 25, 53, 445, 465, 1433, 2375, 2379, 2775, 3306, 5060, 5432, 6379, 6667, 9200, 10250, 11211, 27017]
  .map((port) => `https://example.com:${port}/`)
  .concat('https://8.8.8.8:6379/', 'https://[2001:4860:4860::8888]:5432/', 'https://example.com:0/');
const ODD = [
  'http://example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'javascript:fetch(1)',
  'https:example.com',
  'https:///example.com',
  'https://user:pass@example.com/',
  'https://example.com@127.0.0.1/',
  'https://example.com\\@127.0.0.1/',
  'https://example.com/#x',
  'https://example.com/\r\nX: y',
  ' https://example.com/',
  'https://exa\tmple.com/',
  `https://${'a.'.repeat(127)}com/`,
  `https://example.com/${'x'.repeat(2_048)}`,
];

describe('A18 a webhook to where the attacker may not go', () => {
  it.each([...INSIDE, ...SERVICES, ...ODD])(
    'A18 %j is refused for a session, a default and a test alike',
    async (url) => {
      const before = await strict.countSessions();
      const answer = await strict.create({ webhookUrl: url });
      expect([answer.status, answer.code]).toEqual([422, 'INVALID_WEBHOOK_URL']);
      expect(await strict.countSessions()).toBe(before);
      const admin = new AdminCalls(strict);
      const changed = await admin.patch(`accounts/${strict.demo.accountId}`, { defaultWebhookUrl: url });
      expect(changed.status).toBe(422);
      const tested = await strict.call('/v1/webhooks/test', { method: 'POST', body: { url } });
      expect(tested.status).toBe(422);
    },
  );

  it('A18 metadata services of clouds are refused where the operator allows the networks that they are in', async () => {
    const { baseUrl, stop } = await strict.neighbour({
      WEBHOOK_ALLOWED_CIDRS: '100.64.0.0/10,168.63.129.0/24,169.254.0.0/16,192.0.0.0/24,fd00::/8,fe80::/10',
    });
    try {
      const accepted: string[] = [];
      const neighbours = ['100.100.100.201', '168.63.129.17', '[fd12::1]'];
      for (const host of [...neighbours, ...CLOUDS]) {
        const { status } = await strict.create({ webhookUrl: `https://${host}/` }, { baseUrl });
        if (status === 200) accepted.push(host);
      }
      expect(accepted).toEqual(neighbours);
    } finally {
      await stop();
    }
  });

  it('A18 a name of this computer is accepted, not called: every address is judged at the connection', async () => {
    const hits: string[] = [];
    const inside = http.createServer((request, response) => {
      hits.push(String(request.url));
      response.end();
    });
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
    const { port } = inside.address() as AddressInfo;
    const calls = new WebhookCalls(strict);
    const { json } = await calls.test({ url: `https://localhost:${port}/` });
    const ended = await calls.waitForDelivery(String(json['id']));
    expect(ended.status).toBe('blocked');
    expect(hits).toEqual([]);
    inside.close();
  });

  it('A18 local names that exist and names that do not end alike, so that none is found by trying', async () => {
    const calls = new WebhookCalls(strict);
    const results = [];
    for (const name of ['localhost', 'no-such-machine', 'no-such-machine.internal']) {
      const { json } = await calls.test({ url: `https://${name}/` });
      const { status, attempts } = await calls.waitForDelivery(String(json['id']));
      results.push({ status, errors: attempts.map(({ error }) => error) });
    }
    expect(results).toEqual(
      results.map(() => ({ status: 'blocked', errors: ['an address of the host is not public'] })),
    );
  });
});

describe('A19 a name whose address changes', () => {
  const rules = new TargetRules({ allowedCidrs: ['127.0.0.1/32'], allowHttp: true });

  it('A19 the checked address is the one that is called: a private address in a DNS answer, first, later or among others, is never called', async () => {
    const target = await startReceiver();
    const names = await startNameServer({
      'later.test': [['127.0.0.1'], ['10.0.0.1'], ['169.254.169.254']],
      'mixed.test': [['127.0.0.1', '10.0.0.1']],
      'first.test': [['10.0.0.1'], ['127.0.0.1']],
    });
    const port = new URL(target.url).port;
    const post = async (name: string): Promise<string> => {
      const poster = new WebhookPoster(rules, guardedAgent(rules, null, names.lookUp));
      const result = await poster.post({
        eventId: newId(Date.now()),
        owner: { accountId: newId(Date.now()), test: false },
        url: `http://${name}:${port}/hook`,
        body: '{"type":"webhook.test","data":{"id":"test"}}',
        secrets: [createWebhookSecret()],
        nowMs: Date.now(),
      });
      await poster.close();
      return result.kind;
    };
    const kinds: string[] = [];
    for (const name of ['later.test', 'later.test', 'later.test', 'mixed.test', 'first.test']) {
      kinds.push(await post(name));
    }
    expect(kinds).toEqual(['answered', 'blocked', 'blocked', 'blocked', 'blocked']);
    expect(target.received).toHaveLength(1);
    // One DNS query for each connection: the address that was checked is the one that is connected to.
    expect(names.asked).toEqual(['later.test', 'later.test', 'later.test', 'mixed.test', 'first.test']);
    await names.close();
    await target.close();
  });
});

describe('A17 webhook receivers that hang', () => {
  it('A17 hold half of the places for one account, and webhooks of others are sent beside them', async () => {
    // Accepts connections on every address of this computer, and answers nothing.
    const open = new Set<net.Socket>();
    let most = 0;
    const hanging = net.createServer((socket) => {
      open.add(socket);
      most = Math.max(most, open.size);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
      socket.resume();
    });
    await new Promise<void>((resolve) => hanging.listen(0, '0.0.0.0', 4_096, resolve));
    const { port } = hanging.address() as AddressInfo;
    const receiver = await startReceiver();
    const plane = await ControlPlaneHarness.open();
    try {
      const { account: flooder } = await new AccountStore({
        keys: plane.keys,
        newId: () => plane.clock.newId(),
      }).createAccount(plane.database, { name: 'Flooder' });
      // 600 hosts, five deliveries each.
      await plane.database.query(
        `WITH made AS (SELECT (substr($1, 1, 13) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id,
           'http://127.17.' || n % 600 / 250 || '.' || 1 + n % 600 % 250 || ':' || $3::int || '/' AS url
           FROM generate_series(1, 3000) AS n),
         stored AS (INSERT INTO events (id, type, account_id, data, webhook_url, occurred_at, dispatched_at)
           SELECT id, 'webhook.test', $2, '{}', url, now(), now() FROM made)
         INSERT INTO deliveries (id, account_id, type, url, occurred_at, next_attempt_at)
         SELECT id, $2, 'webhook.test', url, now(), now() - interval '1 minute' FROM made`,
        [plane.clock.newId(), flooder.id, port],
      );
      await until('the account has its share', WITHIN_MS, () => open.size >= 192);
      const { json } = await plane.create({ webhookUrl: receiver.url });
      await plane.approve(String(json['id']));
      await until('the webhook of another account arrives', WITHIN_MS, () => receiver.received.length > 0);
      await until('hanging attempts have ended', 2 * WITHIN_MS, async () => {
        const [row] = await plane.database.query<{ ended: number }>(
          `SELECT count(*)::int AS ended FROM deliveries WHERE account_id = $1 AND jsonb_array_length(attempts) > 0`,
          [flooder.id],
        );
        return (row?.ended ?? 0) > 0;
      });
      // Half of the 384 of a process, and maybe ended ones that are not closed yet.
      expect(most).toBeLessThan(2 * 192);
    } finally {
      hanging.close();
      for (const socket of open) socket.destroy();
      await plane.close();
      await receiver.close();
    }
  }, 90_000);
});

describe('A17 webhook receivers that ask for connections to be kept', () => {
  const rules = new TargetRules({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true });
  const open = new Set<net.Socket>();
  const patient = http.createServer((_request, response) => {
    response.writeHead(200, { 'keep-alive': 'timeout=3600' }).end();
  });
  patient.keepAliveTimeout = 3_600_000;
  patient.on('connection', (socket: net.Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });

  beforeAll(() => new Promise<void>((resolve) => patient.listen(0, '0.0.0.0', resolve)));
  afterAll(() => {
    patient.close();
    patient.closeAllConnections();
  });

  const postTo = (poster: WebhookPoster, host: string) =>
    poster.post({
      eventId: newId(Date.now()),
      owner: { accountId: newId(Date.now()), test: false },
      url: `http://${host}:${(patient.address() as AddressInfo).port}/hook`,
      body: '{"type":"webhook.test","data":{"id":"test"}}',
      secrets: [createWebhookSecret()],
      nowMs: Date.now(),
    });

  it('A17 have idle connections closed at the time of the process, not at theirs', async () => {
    const limits = { keepAliveMs: 500, maxKept: 10 };
    const poster = new WebhookPoster(rules, guardedAgent(rules, null, undefined, limits));
    expect((await postTo(poster, '127.18.0.1')).kind).toBe('answered');
    expect(open.size).toBe(1);
    await until('the connection is closed', WITHIN_MS, () => open.size === 0);
    await poster.close();
  });

  it('A17 hold a bounded number of connections, over any number of hosts', async () => {
    const limits = { keepAliveMs: 600_000, maxKept: 3 };
    const poster = new WebhookPoster(rules, guardedAgent(rules, null, undefined, limits));
    for (let host = 1; host <= 12; host += 1) {
      expect((await postTo(poster, `127.18.1.${host}`)).kind).toBe('answered');
    }
    await until('connections beyond the bound are closed', WITHIN_MS, () => open.size <= 3);
    await poster.close();
    await until('all connections are closed', WITHIN_MS, () => open.size === 0);
  });
});

describe('A20 webhooks that are forged or sent again', () => {
  /** Loopback is allowed, so that the test can receive the requests. */
  let open: ControlPlaneHarness;
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await startReceiver();
    open = await ControlPlaneHarness.open();
  });
  afterAll(async () => {
    await open.close();
    await receiver.close();
  });

  it('A20 a changed octet, another id, another time, another secret and an old copy are refused by the SDK', async () => {
    const made = await open.create({ webhookUrl: receiver.url });
    expect(made.status).toBe(200);
    await open.approve(String(made.json['id']));
    await until('the webhook arrives', WITHIN_MS, () => receiver.received.length > 0);
    const [genuine] = receiver.received;
    if (genuine === undefined) throw new Error('unreachable');
    const secret = open.demo.webhookSecret;
    const { body, headers } = genuine;
    expect(await verifyWebhook(body, headers, secret)).toMatchObject({ type: 'verification.completed' });
    const seconds = Number(headers['webhook-timestamp']);
    const forgeries: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['another body', () => verifyWebhook(body.replace('"approved"', '"cancelled"'), headers, secret)],
      ['another id', () => verifyWebhook(body, { ...headers, 'webhook-id': 'evt_x' }, secret)],
      ['another time', () => verifyWebhook(body, { ...headers, 'webhook-timestamp': String(seconds + 1) }, secret)],
      ['no signature', () => verifyWebhook(body, { ...headers, 'webhook-signature': '' }, secret)],
      ['a cut signature', () => verifyWebhook(body, { ...headers, 'webhook-signature': 'v1,AAAA' }, secret)],
      [
        'another scheme',
        () => {
          const signature = String(headers['webhook-signature']).replace('v1,', 'v1a,');
          return verifyWebhook(body, { ...headers, 'webhook-signature': signature }, secret);
        },
      ],
      ['the test secret', () => verifyWebhook(body, headers, open.demo.testWebhookSecret)],
      ['301 s later', () => verifyWebhook(body, headers, secret, { now: new Date((seconds + 301) * 1_000) })],
      ['from the future', () => verifyWebhook(body, headers, secret, { now: new Date((seconds - 301) * 1_000) })],
    ];
    for (const [what, forge] of forgeries) await expect(forge(), what).rejects.toThrow(WebhookVerificationError);
  });

  it('A20 the answer of a receiver is not followed elsewhere, nor shown to the caller', async () => {
    const hits: string[] = [];
    const secret = 'internal secret of the receiver';
    const redirecting = http.createServer((request, response) => {
      hits.push(String(request.url));
      response.writeHead(302, { location: '/elsewhere' }).end(secret);
    });
    await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
    const { port } = redirecting.address() as AddressInfo;
    const calls = new WebhookCalls(open);
    const { json, status } = await calls.test({ url: `http://127.0.0.1:${port}/hook` });
    expect(status).toBe(202);
    const attemptedDelivery = await calls.waitForDelivery(String(json['id']), ({ attempts }) => attempts.length > 0);
    expect(attemptedDelivery.attempts[0]).toMatchObject({ status: 302 });
    expect(JSON.stringify(attemptedDelivery)).not.toContain(secret);
    expect(hits).toEqual(['/hook']);
    redirecting.close();
    redirecting.closeAllConnections();
  });
});
