import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createWebhookSecret } from '@countersign/keys';
import { newId } from '@countersign/ids';
import { afterEach, describe, expect, it } from 'vitest';
import type { AttemptResult } from '../../apps/control-plane/src/webhooks/attempt.js';
import { guardedAgent } from '../../apps/control-plane/src/webhooks/guarded-agent.js';
import { HostsFile } from '../../apps/control-plane/src/webhooks/hosts-file.js';
import { type LookupAll, nameLookup } from '../../apps/control-plane/src/webhooks/name-lookup.js';
import { TargetRules } from '../../apps/control-plane/src/targets/target.js';
import { WebhookPoster } from '../../apps/control-plane/src/webhooks/webhook-poster.js';
import { type NameServer, startNameServer } from '../support/name-server.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

const OK = { kind: 'answered', status: 200, retryAfter: null };
const PRIVATE = '10.0.0.1';
const PUBLIC = '93.184.215.14';
/** Only loopback is allowed, so that a test can count the requests. */
const rules = new TargetRules({ allowedCidrs: ['127.0.0.1/32'], allowHttp: true });

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function receiver(): Promise<Receiver> {
  const started = await startReceiver();
  closers.push(() => started.close());
  return started;
}

async function namesOf(answers: Parameters<typeof startNameServer>[0]): Promise<NameServer> {
  const names = await startNameServer(answers);
  closers.push(() => names.close());
  return names;
}

function posterOver(dispatcher: ReturnType<typeof guardedAgent>): WebhookPoster {
  const poster = new WebhookPoster(rules, dispatcher);
  closers.push(() => poster.close());
  return poster;
}

const postTo = (poster: WebhookPoster, url: string): Promise<AttemptResult> =>
  poster.post({
    eventId: newId(Date.now()),
    owner: { accountId: newId(Date.now()), test: false },
    url,
    body: '{"type":"webhook.test","data":{"id":"test"}}',
    secrets: [createWebhookSecret()],
    nowMs: Date.now(),
  });

const portOf = (url: string): string => new URL(url).port;

describe('a name that changes its address', () => {
  it('is checked with all its addresses at every connect', async () => {
    const target = await receiver();
    const names = await namesOf({ 'rebind.test': [['127.0.0.1'], [PRIVATE]] });
    const url = `http://rebind.test:${portOf(target.url)}/hook`;
    const first = posterOver(guardedAgent(rules, null, names.lookUp));
    expect(await postTo(first, url)).toEqual(OK);
    const second = posterOver(guardedAgent(rules, null, names.lookUp));
    expect(await postTo(second, url)).toEqual({ kind: 'blocked', error: 'an address of the host is not public' });
    expect([names.asked.length, target.received.length]).toEqual([2, 1]);
  });

  it('is looked up once per connection, which uses the checked address', async () => {
    const target = await receiver();
    const names = await namesOf({ 'turn.test': [['127.0.0.1'], [PUBLIC], ['127.0.0.1']] });
    const url = `http://turn.test:${portOf(target.url)}/hook`;
    const kinds: string[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const poster = posterOver(guardedAgent(rules, null, names.lookUp));
      kinds.push((await postTo(poster, url)).kind);
    }
    // The second address is public, which is refused over plain http.
    expect([kinds, names.asked.length]).toEqual([['answered', 'blocked', 'answered'], 3]);
  });

  it('is refused for one refused address among many, in any position', async () => {
    const target = await receiver();
    const names = await namesOf({
      'many.test': [
        ['127.0.0.1', '127.0.0.1', PRIVATE],
        [PRIVATE, '127.0.0.1'],
      ],
    });
    for (let turn = 0; turn < 2; turn++) {
      const poster = posterOver(guardedAgent(rules, null, names.lookUp));
      expect((await postTo(poster, `http://many.test:${portOf(target.url)}/`)).kind).toBe('blocked');
    }
    expect(target.received).toHaveLength(0);
  });

  it('without an address fails, so that it is retried', async () => {
    const names = await namesOf({});
    const poster = posterOver(guardedAgent(rules, null, names.lookUp));
    expect(await postTo(poster, 'http://nowhere.test/')).toEqual({ kind: 'failed', error: 'ENODATA' });
  });
});

const found = (lookUp: LookupAll, name: string): Promise<string[] | string> =>
  new Promise((resolve) => {
    lookUp(name, (error, addresses) => {
      resolve(error === null ? addresses.map(({ address }) => address) : String(error.code));
    });
  });

describe('the name look-up', () => {
  it('finds all addresses while the servers of many other names do not respond', async () => {
    const silent = Array.from({ length: 32 }, (_, at) => `silent${at}.test`);
    const names = await namesOf({
      ...Object.fromEntries(silent.map((name) => [name, 'silence'] as const)),
      'healthy.test': [['127.0.0.1', PUBLIC]],
    });
    const lookUp = nameLookup({ servers: [names.address] });
    let ended = 0;
    const waiting = silent.map((name) => found(lookUp, name).then((result) => ((ended += 1), result)));
    expect(await found(lookUp, 'healthy.test')).toEqual(['127.0.0.1', PUBLIC]);
    expect(ended).toBe(0);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['ETIMEOUT']));
  });

  it('asks the system for names unknown to DNS and for local names, two at a time', async () => {
    const asked: string[] = [];
    const answers: (() => void)[] = [];
    const system: LookupAll = (hostname, done) => {
      asked.push(hostname);
      answers.push(() => done(null, [{ address: '10.0.0.7', family: 4 }]));
    };
    const names = await namesOf({ 'known.test': [[PUBLIC]] });
    const lookUp = nameLookup({ servers: [names.address], system });
    expect(await found(lookUp, 'known.test')).toEqual([PUBLIC]);
    const local = ['receiver', 'receiver.', 'hooks.internal', 'localhost'];
    const waiting = local.map((name) => found(lookUp, name));
    expect(asked).toEqual(['receiver', 'receiver.']);
    while (answers.length > 0) answers.shift()?.();
    expect(await Promise.all(waiting)).toEqual(local.map(() => ['10.0.0.7']));
    expect(names.asked).toEqual(['known.test']);
    const unknown = found(lookUp, 'pinned.test');
    await expect.poll(() => asked.at(-1)).toBe('pinned.test');
    answers.shift()?.();
    expect(await unknown).toEqual(['10.0.0.7']);
  });

  it('prefers the hosts file to DNS', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-hosts-'));
    closers.push(() => rm(folder, { recursive: true }));
    const file = path.join(folder, 'hosts');
    writeFileSync(file, '127.0.0.1 localhost\n10.0.0.7\tPinned.test silent.test # ours\n::1 pinned.test\n');
    const names = await namesOf({ 'pinned.test': [[PUBLIC]], 'silent.test': 'silence', 'healthy.test': [[PUBLIC]] });
    const lookUp = nameLookup({ servers: [names.address], hosts: new HostsFile(file) });
    expect(await found(lookUp, 'pinned.test')).toEqual(['10.0.0.7', '::1']);
    expect(await found(lookUp, 'silent.test.')).toEqual(['10.0.0.7']);
    expect(await found(lookUp, 'healthy.test')).toEqual([PUBLIC]);
    expect(names.asked).toEqual(['healthy.test']);
  });

  it('rejects look-ups by the system beyond a hundred that wait', () => {
    const lookUp = nameLookup({ system: () => undefined });
    const rejected: unknown[] = [];
    for (let at = 0; at < 103; at++) lookUp(`host${at}`, (error) => rejected.push(error?.code));
    expect(rejected).toEqual(['EAGAIN']);
  });
});

/** A proxy as in `WEBHOOK_EGRESS_PROXY`: it opens all tunnels to loopback, and lists their targets. */
async function startProxy(
  answer: 'opens' | 'refuses' | 'hangs' = 'opens',
): Promise<{ url: string; tunnels: string[] }> {
  const tunnels: string[] = [];
  const open = new Set<Socket>();
  const server: Server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', (request, client: Socket, head) => {
    tunnels.push(request.url ?? '');
    open.add(client.on('error', () => undefined));
    if (answer === 'hangs') return;
    if (answer === 'refuses') return void client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const [, port = ''] = (request.url ?? '').split(':');
    const onward = connect(Number(port), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.write(head);
      onward.pipe(client).pipe(onward);
    });
    for (const socket of [client, onward]) {
      open.add(socket);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tunnels };
}

describe('an egress proxy', () => {
  it('is used for every connection, and looks names up itself', async () => {
    const target = await receiver();
    const proxy = await startProxy();
    const poster = posterOver(guardedAgent(rules, proxy.url));
    expect(await postTo(poster, `http://hooks.test:${portOf(target.url)}/hook`)).toEqual(OK);
    expect([proxy.tunnels, target.received.length]).toEqual([[`hooks.test:${portOf(target.url)}`], 1]);
  });

  it('does not change the check of a URL text', async () => {
    const proxy = await startProxy();
    const poster = posterOver(guardedAgent(rules, proxy.url));
    for (const url of [`http://${PRIVATE}/`, 'http://[::1]/', 'https://u:p@acme.example/', 'http://169.254.169.254/']) {
      expect((await postTo(poster, url)).kind).toBe('blocked');
    }
    expect(proxy.tunnels).toEqual([]);
  });

  it('that refuses the tunnel fails the attempt, which is retried', async () => {
    const proxy = await startProxy('refuses');
    expect((await postTo(posterOver(guardedAgent(rules, proxy.url)), 'https://hooks.test/')).kind).toBe('failed');
    expect(proxy.tunnels).toEqual(['hooks.test:443']);
  });

  it('that cannot be reached is not an error of the target', async () => {
    const away = posterOver(guardedAgent(rules, 'http://127.0.0.1:1'));
    const result = await postTo(away, 'https://hooks.test/');
    expect(result).toEqual({ kind: 'failed', error: 'proxy: ECONNREFUSED', notSent: true });
  });

  it('has the connect timeout to open a tunnel', async () => {
    const proxy = await startProxy('hangs');
    const result = await postTo(posterOver(guardedAgent(rules, proxy.url)), 'https://hooks.test/');
    expect(result).toEqual({ kind: 'failed', error: 'UND_ERR_HEADERS_TIMEOUT' });
  });
});
