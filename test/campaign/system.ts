import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureCertificates } from '../../config/stack/certificates.mjs';
import { BoundedDisk } from '../support/bounded-disk.js';
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
import { faketimeLibrary, SteppedClock } from '../support/stepped-clock.js';
import { until } from '../support/until.js';
import { Api } from './api.js';
import { CardPlatform } from './card-platform.js';
import { CodeCarrier } from './carrier.js';
import type { Random } from '../support/random.js';
import { RealtimeReader } from './reader.js';

const BOUND_MS = 30_000;
const EVENTS = ['verification.denied', 'verification.expired', 'verification.cancelled', 'verification.otp_delivery'];

const AGENT_ID = 'campaign_agent';
/** The folder of the servers' files, in that of the installation. */
const STORES = 'stores';
/** One control plane and one gateway, which start before the others. */
const FIRST_APPS = 2;

/** A process of the product. */
export interface App {
  readonly name: string;
  readonly part: AppPart;
}

/** An app with a proxy to each of its stores. */
export interface ProxiedApp extends App {
  readonly lines: readonly { readonly store: string; readonly line: Line }[];
  /** Null where libfaketime is not installed, and for the first process of each app: its clock is right. */
  readonly clock: SteppedClock | null;
}

/** Control planes and gateways, an aggregator, a carrier and a receiver of webhooks. */
export interface Installation {
  readonly apps: readonly App[];
  /** Of the role that owns the tables. */
  readonly ownerUrl: string;
  readonly demo: SeededDemo;
  readonly api: Pick<Api, 'call'>;
  /** One to each gateway. */
  readonly links: readonly [Pick<Phone, 'send'>, Pick<Phone, 'send'>];
  readonly carrier: CodeCarrier;
  readonly cards: CardPlatform;
  readonly receiver: Receiver;
  readonly reader: RealtimeReader;
  /** Folders with the logs of the apps and the files of Redis. */
  readonly searched: readonly string[];
  /** Texts that may be in none of these files. */
  readonly secrets: readonly string[];
}

/** Two control planes and two gateways over PostgreSQL and Redis that faults can strike. */
export interface System extends Installation {
  readonly apps: readonly ProxiedApp[];
  readonly postgres: StorePart;
  readonly redis: StorePart | null;
  /** With the files of both stores; null where it cannot be mounted. */
  readonly disk: BoundedDisk | null;
  stop(): Promise<void>;
}

/** Closes what was opened, in the reverse order. */
export class Opened {
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
  const dataDir = openFolder(opened);
  const stores = path.join(dataDir, STORES);
  const disk = opened.add(BoundedDisk.mountAt(stores), (mounted) => mounted?.unmount());
  const { postgres, redis } = await startStores(stores, isWithRedis ? 'redis' : 'postgresql');
  opened.add(postgres, (part) => part.stop());
  if (redis !== null) opened.add(redis, (part) => part.stop());
  await migrated(postgres);
  const strikable: Pick<ProxiedApp, 'lines' | 'clock'>[] = [];
  const variablesOf = async (app: AppName): Promise<Readonly<Record<string, string>>> => {
    const database = opened.add(await lineTo(app === 'gateway' ? postgres.gatewayUrl : postgres.url), (line) =>
      line.close(),
    );
    const queues = redis === null ? null : opened.add(await lineTo(redis.url), (line) => line.close());
    const lines = [
      { store: 'PostgreSQL', line: database },
      ...(queues === null ? [] : [{ store: 'Redis', line: queues }]),
    ];
    const library = strikable.length < FIRST_APPS ? null : faketimeLibrary();
    const file = path.join(dataDir, `clock-${strikable.length}`);
    const clock = library === null ? null : new SteppedClock(library, file);
    strikable.push({ lines, clock });
    return {
      DATABASE_URL: database.url,
      ...(queues === null ? {} : { REDIS_URL: queues.url }),
      ...clock?.environment,
    };
  };
  const { url, ownerUrl } = postgres;
  const installation = await install(opened, random, { dataDir, url, ownerUrl, variablesOf });
  const apps = installation.apps.map((app, nth) => ({ ...app, ...(strikable[nth] ?? { lines: [], clock: null }) }));
  return { ...installation, apps, postgres, redis, disk, stop: () => opened.close() };
}

/** A folder for the files of an installation. */
export const openFolder = (opened: Opened): string =>
  opened.add(mkdtempSync(path.join(os.tmpdir(), 'countersign-campaign-')), (folder) =>
    rmSync(folder, { recursive: true, force: true }),
  );

export type AppName = 'control-plane' | 'gateway';

export interface InstallOptions {
  readonly dataDir: string;
  /** A migrated database: by control planes' role and by the role that owns the tables. */
  readonly url: string;
  readonly ownerUrl: string;
  /** Variables of the next app: where its stores are, and others of this installation. */
  readonly variablesOf: (app: AppName) => Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
  /** The build that the apps are started from. Default: that of the working tree. */
  readonly dist?: string | undefined;
}

/** Starts two control planes and two gateways with all that surrounds them. `opened` ends them. */
export async function install(
  opened: Opened,
  random: Random,
  { dataDir, url, ownerUrl, variablesOf, dist }: InstallOptions,
): Promise<Installation> {
  const { certFile, keyFile, caFile } = await ensureCertificates({
    dataDir,
    hosts: ['127.0.0.1'],
    log: () => undefined,
  });
  const secrets = newSecrets();
  const common = { ...secrets, ...COMMON_SETTINGS, LOG_LEVEL: 'info', TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile };
  const cards = opened.add(await CardPlatform.open(random.fork()), (platform) => platform.close());
  const logs = path.join(dataDir, 'logs');
  mkdirSync(logs);
  const start = async (name: AppName, number: number): Promise<App> => {
    const ports = await (name === 'gateway' ? gatewayPorts() : controlPlanePorts());
    const platform = name === 'gateway' ? cards.environment : {};
    const environment = { ...common, ...ports, ...platform, ...(await variablesOf(name)) };
    const part = appPart(name, environment, path.join(logs, `${name}-${number}.log`));
    part.dist = dist ?? part.dist;
    await opened.add(part, (started) => started.stop()).start();
    return { name: `${name} ${number}`, part };
  };
  const [firstPlane, firstGateway] = [await start('control-plane', 1), await start('gateway', 1)];
  const [secondPlane, secondGateway] = [await start('control-plane', 2), await start('gateway', 2)];

  cards.listenAt([firstGateway, secondGateway].map(({ part }) => part.port('GATEWAY_HTTP_PORT')));

  const receiver = opened.add(await startReceiver(), (server) => server.close());
  const environment = { ...common, DATABASE_URL: url, DATABASE_MIGRATION_URL: ownerUrl };
  const demo = await seedDemo(environment, { webhookUrl: receiver.url, ...(dist === undefined ? {} : { dist }) });
  const ca = readFileSync(caFile);
  const baseUrls = [firstPlane, secondPlane].map(({ part }) => `https://127.0.0.1:${part.port('CONTROL_PLANE_PORT')}`);
  const apiWith = (key: string): Api => opened.add(new Api(baseUrls, ca, key), (api) => api.close());
  const carrier = opened.add(new CodeCarrier(random), (smsc) => smsc.close());
  await setUp(apiWith(secrets['COUNTERSIGN_ADMIN_KEY'] ?? ''), demo, await carrier.listen());
  await until('the carrier is bound', BOUND_MS, () => carrier.isBound);
  const readerOptions = {
    urls: baseUrls.map((baseUrl) => `${baseUrl.replace('https', 'wss')}/v1/realtime`),
    ...{ ca, key: demo.apiKey, accountId: demo.accountId },
  };
  const reader = opened.add(new RealtimeReader(readerOptions), (client) => client.close());
  await until('the reader is subscribed', BOUND_MS, () => reader.isSubscribed);
  const linkTo = ({ part }: App): Phone =>
    opened.add(
      new Phone({ port: part.port('GATEWAY_SMPP_PORT'), systemId: demo.systemId, password: demo.password }),
      (link) => link.close(),
    );
  return {
    apps: [firstPlane, firstGateway, secondPlane, secondGateway],
    ...{ ownerUrl, demo, carrier, cards, receiver, reader },
    api: apiWith(demo.apiKey),
    links: [linkTo(firstGateway), linkTo(secondGateway)],
    searched: [logs, path.join(dataDir, 'redis'), path.join(dataDir, STORES, 'redis')].filter(existsSync),
    secrets: [
      demo.apiKey,
      demo.testApiKey,
      demo.webhookSecret,
      demo.password,
      ...Object.values(secrets),
      ...cards.secrets,
    ],
  };
}

/** The carrier's bind with a connection for each gateway, its route, and all kinds of events. */
async function setUp(admin: Api, demo: SeededDemo, port: number): Promise<void> {
  const created = async (resource: string, body: object): Promise<string> => {
    const answer = await admin.call(`/v1/admin/${resource}`, { method: 'POST', body });
    if (answer?.status !== 201) throw new Error(`${resource}: ${JSON.stringify(answer)}`);
    return String(answer.json['id']);
  };
  const changed = async (resource: string, body: object): Promise<void> => {
    const answer = await admin.call(`/v1/admin/${resource}`, { method: 'PATCH', body });
    if (answer?.status !== 200) throw new Error(`${resource}: ${JSON.stringify(answer)}`);
  };
  const bindId = await created('binds', {
    ...{ name: 'north', carrier: 'north', hosts: [{ host: '127.0.0.1', port }], systemId: 'us', password: 'secret08' },
    ...{ connections: 2, submitPerSecond: 1_000, responseTimeoutSeconds: 5, trustedForMo: false },
  });
  await created('routes', { prefix: '+', bindId });
  await changed(`accounts/${demo.accountId}`, { webhookEvents: EVENTS });
  await changed(`brands/${demo.brandId}`, { rcsAgentId: AGENT_ID });
}
