import 'reflect-metadata';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const PAGE = readFileSync(new URL('./pages/webhook-receivers.md', import.meta.url), 'utf8');
/** Inside the project, so that imports of the examples resolve. */
const CACHE = fileURLToPath(new URL('../../../../dist/.cache', import.meta.url));

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OLD_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const BODY = JSON.stringify({
  type: 'webhook.test',
  timestamp: '2026-11-21T12:00:00.000Z',
  data: { accountId: 'acct_01HF7YAT000000000000000002', name: 'Ünsal “O’Neill”' },
});

/** Stands for a receiver's database. */
const INBOX = `
export const events = new Map();
export const inbox = {
  async add(event) {
    if (events.has('broken')) throw new Error('the database is away');
    if (!events.has(event.id)) events.set(event.id, event);
  },
};
`;

type Handler = (request: IncomingMessage & { body?: Buffer }, response: ServerResponse) => Promise<void>;

let folder: string;
let events: Map<string, { readonly type: string; readonly data: unknown }>;
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  mkdirSync(CACHE, { recursive: true });
  folder = mkdtempSync(path.join(CACHE, 'receivers-'));
  writeFileSync(path.join(folder, 'inbox.js'), INBOX);
  writeFileSync(path.join(folder, 'tsconfig.json'), '{"extends":"../../../tsconfig.json","include":["*.ts"]}');
  process.env['COUNTERSIGN_WEBHOOK_SECRETS'] = `${SECRET} ${OLD_SECRET}`;
  events = ((await import(pathToFileURL(path.join(folder, 'inbox.js')).href)) as { events: typeof events }).events;
});
afterEach(async () => {
  events.clear();
  for (const stop of stops.splice(0)) await stop();
});
afterAll(async () => {
  await ((await exampleOf('Fastify')) as { app: FastifyInstance }).app.close();
  delete process.env['COUNTERSIGN_WEBHOOK_SECRETS'];
  rmSync(folder, { recursive: true });
});

/** The code block under a heading of the page, loaded as a module. */
async function exampleOf(heading: string): Promise<Record<string, unknown>> {
  const [, extension = '', text = ''] =
    new RegExp(`\\n## ${heading}\\n[^]*?\`\`\`(\\w+)\\n([^]*?)\`\`\``).exec(PAGE) ?? [];
  const file = path.join(folder, `${heading.toLowerCase()}.${extension}`);
  writeFileSync(file, text);
  return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
}

const urlOf = (server: { address(): unknown }): string =>
  `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/webhooks`;

/** Express calls a handler of Node's own server, after its `raw` middleware has stored the octets in `body`. */
async function express(): Promise<string> {
  const { receiveWebhook } = (await exampleOf('Express')) as { receiveWebhook: Handler };
  const server = createServer((request: IncomingMessage & { body?: Buffer }, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      request.body = Buffer.concat(chunks);
      void receiveWebhook(request, response);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stops.push(() => new Promise((resolve) => server.close(resolve)));
  return urlOf(server);
}

async function fastify(): Promise<string> {
  const { app } = (await exampleOf('Fastify')) as { app: FastifyInstance };
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
  return urlOf(app.server);
}

async function nest(): Promise<string> {
  const { WebhooksController } = (await exampleOf('Nest')) as { WebhooksController: new () => object };
  const module = { module: WebhooksController, controllers: [WebhooksController] };
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest declares its options as classes
  const app: INestApplication = await NestFactory.create(module, new FastifyAdapter(), {
    rawBody: true,
    logger: false,
  });
  await app.listen(0, '127.0.0.1');
  stops.push(() => app.close());
  return urlOf(app.getHttpServer() as { address(): unknown });
}

async function post(url: string, id: string, { secret = SECRET, body = BODY } = {}): Promise<number> {
  const now = new Date();
  const headers = {
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, now, BODY),
  };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

describe.each([
  ['Express', express],
  ['Fastify', fastify],
  ['Nest', nest],
])('the receiver for %s on the page', (_name, started) => {
  it('stores a genuine webhook once, with either of the two secrets', async () => {
    const url = await started();
    expect(await post(url, 'evt_1')).toBe(204);
    expect(await post(url, 'evt_1')).toBe(204);
    expect(await post(url, 'evt_2', { secret: OLD_SECRET })).toBe(204);
    expect([...events.keys()]).toEqual(['evt_1', 'evt_2']);
    expect(events.get('evt_1')).toMatchObject({
      type: 'webhook.test',
      data: (JSON.parse(BODY) as { data: unknown }).data,
    });
  });

  it('refuses a forged one, and requests a retry when it cannot store', async () => {
    const url = await started();
    expect(await post(url, 'evt_1', { secret: `whsec_${'A'.repeat(43)}=` })).toBe(400);
    expect(await post(url, 'evt_1', { body: BODY.replace('webhook.test', 'webhook.tesd') })).toBe(400);
    expect(events.size).toBe(0);
    events.set('broken', { type: '', data: null });
    expect(await post(url, 'evt_1')).toBe(500);
  });
});
