import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureCertificates } from '../../config/stack/certificates.mjs';
import { migrated } from '../support/database.js';
import { seedDemo, type SeededDemo } from '../support/demo.js';
import { type Line, lineTo } from '../support/line.js';
import {
  appPart,
  type AppPart,
  COMMON_SETTINGS,
  controlPlanePorts,
  gatewayPorts,
  newSecrets,
  startStores,
  type StorePart,
} from '../support/parts.js';
import { Phone } from '../support/phone.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { Api } from './api.js';
import { CodeCarrier } from './carrier.js';
import type { Random } from '../support/random.js';
import { RealtimeReader } from './reader.js';

const BOUND_MS = 30_000;
const EVENTS = ['verification.denied', 'verification.expired', 'verification.cancelled', 'verification.otp_delivery'];

/** An app with a proxy to each of its stores. */
export interface ProxiedApp {
  readonly name: string;
  readonly part: AppPart;
  readonly lines: readonly { readonly store: string; readonly line: Line }[];
}

/** Two control planes and two gateways over PostgreSQL and Redis, an aggregator, a carrier and a receiver of webhooks. */
export interface System {
  readonly apps: readonly ProxiedApp[];
  readonly postgres: StorePart;
  readonly redis: StorePart | null;
  readonly demo: SeededDemo;
  readonly api: Api;
  readonly links: readonly [Phone, Phone];
  readonly carrier: CodeCarrier;
  readonly receiver: Receiver;
  readonly reader: RealtimeReader;
  /** Folders with the logs of the apps and the files of Redis. */
  readonly searched: readonly string[];
  /** Texts that may be in none of these files. */
  readonly secrets: readonly string[];
  stop(): Promise<void>;
}

/** Closes what was opened, in the reverse order. */
class Opened {
  readonly #closers: (() => unknown)[] = [];

  add<Value>(value: Value, close: (value: Value) => unknown): Value {
    this.#closers.push(() => close(value));
    return value;
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }
}

export async function startSystem(random: Random, isWithRedis: boolean): Promise<System> {
  const opened = new Opened();
  try {
    return await startIn(opened, random, isWithRedis);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function startIn(opened: Opened, random: Random, isWithRedis: boolean): Promise<System> {
  const dataDir = opened.add(mkdtempSync(path.join(os.tmpdir(), 'countersign-campaign-')), (folder) =>
    rmSync(folder, { recursive: true, force: true }),
  );
  const { postgres, redis } = await startStores(dataDir, isWithRedis ? 'redis' : 'postgresql');
  opened.add(postgres, (part) => part.stop());
  if (redis !== null) opened.add(redis, (part) => part.stop());
  await migrated(postgres);
  const { certFile, keyFile, caFile } = await ensureCertificates({
    dataDir,
    hosts: ['127.0.0.1'],
    log: () => undefined,
  });
  const secrets = newSecrets();
  const common = { ...secrets, ...COMMON_SETTINGS, LOG_LEVEL: 'info', TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile };
  const logs = path.join(dataDir, 'logs');
  mkdirSync(logs);

  const proxied = async (name: 'control-plane' | 'gateway', number: number): Promise<ProxiedApp> => {
    const isGateway = name === 'gateway';
    const database = opened.add(await lineTo(isGateway ? postgres.gatewayUrl : postgres.url), (line) => line.close());
    const queues = redis === null ? null : opened.add(await lineTo(redis.url), (line) => line.close());
    const environment = {
      ...common,
      ...(isGateway ? await gatewayPorts() : await controlPlanePorts()),
      DATABASE_URL: database.url,
      ...(queues === null ? {} : { REDIS_URL: queues.url }),
    };
    const part = appPart(name, environment, path.join(logs, `${name}-${number}.log`));
    await opened.add(part, (started) => started.stop()).start();
    const lines = [
      { store: 'PostgreSQL', line: database },
      ...(queues === null ? [] : [{ store: 'Redis', line: queues }]),
    ];
    return { name: `${name} ${number}`, part, lines };
  };
  const apps: ProxiedApp[] = [];
  for (const number of [1, 2]) apps.push(await proxied('control-plane', number), await proxied('gateway', number));
  const [firstPlane, firstGateway, secondPlane, secondGateway] = apps as [
    ProxiedApp,
    ProxiedApp,
    ProxiedApp,
    ProxiedApp,
  ];

  const receiver = opened.add(await startReceiver(), (server) => server.close());
  const environment = { ...common, DATABASE_URL: postgres.url, DATABASE_MIGRATION_URL: postgres.ownerUrl };
  const demo = await seedDemo(environment, { webhookUrl: receiver.url });
  const ca = readFileSync(caFile);
  const baseUrls = [firstPlane, secondPlane].map(({ part }) => `https://127.0.0.1:${part.port('CONTROL_PLANE_PORT')}`);
  const apiWith = (key: string): Api => opened.add(new Api(baseUrls, ca, key), (api) => api.close());
  const carrier = opened.add(new CodeCarrier(random), (smsc) => smsc.close());
  await setUp(apiWith(secrets['COUNTERSIGN_ADMIN_KEY'] ?? ''), demo, await carrier.listen());
  await until('the carrier is bound', BOUND_MS, () => carrier.isBound);
  const readerOptions = {
    urls: baseUrls.map((url) => `${url.replace('https', 'wss')}/v1/realtime`),
    ...{ ca, key: demo.apiKey, accountId: demo.accountId },
  };
  const reader = opened.add(new RealtimeReader(readerOptions), (client) => client.close());
  await until('the reader is subscribed', BOUND_MS, () => reader.isSubscribed);
  const linkTo = ({ part }: ProxiedApp): Phone =>
    opened.add(
      new Phone({ port: part.port('GATEWAY_SMPP_PORT'), systemId: demo.systemId, password: demo.password }),
      (link) => link.close(),
    );
  return {
    apps,
    postgres,
    redis,
    demo,
    api: apiWith(demo.apiKey),
    links: [linkTo(firstGateway), linkTo(secondGateway)],
    carrier,
    receiver,
    reader,
    searched: [logs, path.join(dataDir, 'redis')],
    secrets: [demo.apiKey, demo.testApiKey, demo.webhookSecret, demo.password, ...Object.values(secrets)],
    stop: () => opened.close(),
  };
}

/** The carrier's bind with a connection for each gateway, its route, and all kinds of events. */
async function setUp(admin: Api, demo: SeededDemo, port: number): Promise<void> {
  const created = async (resource: string, body: object): Promise<string> => {
    const answer = await admin.call(`/v1/admin/${resource}`, { method: 'POST', body });
    if (answer?.status !== 201) throw new Error(`${resource}: ${JSON.stringify(answer)}`);
    return String(answer.json['id']);
  };
  const bindId = await created('binds', {
    ...{ name: 'north', carrier: 'north', hosts: [{ host: '127.0.0.1', port }], systemId: 'us', password: 'secret08' },
    ...{ connections: 2, submitPerSecond: 1_000, responseTimeoutSeconds: 5, trustedForMo: false },
  });
  await created('routes', { prefix: '+', bindId });
  const changed = await admin.call(`/v1/admin/accounts/${demo.accountId}`, {
    method: 'PATCH',
    body: { webhookEvents: EVENTS },
  });
  if (changed?.status !== 200) throw new Error(`accounts: ${JSON.stringify(changed)}`);
}
