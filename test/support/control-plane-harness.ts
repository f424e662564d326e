import { createHash, randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { JobNotifier, queueConnection, prepareQueues } from '@countersign/bus';
import { QUEUE_PREFIX, QUEUES } from '@countersign/events';
import { createApiKey, modeOf, ServerKeys, type Mode } from '@countersign/keys';
import { parseId } from '@countersign/ids';
import { Database, DatabaseClock } from '@countersign/postgres';
import { SessionStore } from '@countersign/session';
import { deriveToken } from '@countersign/session/tokens';
import { ControlPlaneSettings, loadSettings } from '@countersign/settings';
import { createLogger } from '@countersign/telemetry';
import { Queue } from 'bullmq';
import { Agent, request, type Dispatcher } from 'undici';
import { startControlPlane } from '../../apps/control-plane/src/control-plane.js';
import { DemoSeed, type SeededDemo } from '../../apps/control-plane/src/demo/demo-account.js';
import { ensureCertificates } from '../../config/stack/certificates.mjs';
import { freePort } from '../../config/stack/postgres.mjs';
import { gatewayUrlBy, migrated, type DatabaseUrls } from './database.js';
import { Documented } from './documented.js';
import { lineTo, type Line } from './line.js';
import { startTestPostgres } from './test-postgres.js';

/**
 * A key that is the same in every process and run, and not one of the published sample keys that production refuses.
 */
const keyNamed = (name: string): Buffer => createHash('sha256').update(name).digest();
export const MASTER_KEY = keyNamed('master');
export const ENTROPY_KEY = keyNamed('entropy');
export const PHONE = '+14155552671';

export interface Call {
  readonly method?: Dispatcher.HttpMethod;
  /** The demo account's key by default; null sends none. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of another control plane; the harness's own by default. */
  readonly baseUrl?: string;
  /** Connects from another address; the harness has one of its own. */
  readonly dispatcher?: Dispatcher;
  /** Text and octets are sent as they are, anything else as JSON; the type is `application/json` unless given. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The decompressed body. */
  readonly text: string;
  /** The body as received. */
  readonly octets: Buffer;
  /** The body as JSON. */
  readonly json: Readonly<Record<string, unknown>>;
  /** `error.code`, or undefined. */
  readonly code: string | undefined;
  readonly field: string | undefined;
}

/** A control plane in this process over TLS, on a PostgreSQL of its own, with the calls and queries of the tests. */
export class ControlPlaneHarness {
  readonly log: string[] = [];
  #stop: (() => Promise<void>) | undefined;
  #documented: Promise<Documented> | undefined;

  private constructor(
    readonly home: DatabaseUrls,
    /** As the daemons' role. */
    readonly database: Database,
    readonly clock: DatabaseClock,
    readonly keys: ServerKeys,
    readonly sessions: SessionStore,
    readonly demo: SeededDemo,
    readonly environment: Readonly<Record<string, string>>,
    /** Between the control plane and PostgreSQL; the harness's own connection does not use it. */
    readonly line: Line,
    private readonly agent: Agent,
    private readonly notifier: JobNotifier,
    private readonly dispose: () => Promise<void>,
  ) {}

  /** `changes` are variables of the control plane's environment. */
  static async open(changes: Readonly<Record<string, string>> = {}): Promise<ControlPlaneHarness> {
    const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-contract-'));
    const postgres = await startTestPostgres(dataDir);
    await migrated(postgres);
    const onError = (): void => undefined;
    const database = await Database.open({
      url: postgres.url,
      poolMax: 6,
      applicationName: 'test',
      onError,
    });
    const clock = await DatabaseClock.start(database, onError);
    const keys = ServerKeys.fromMaster(MASTER_KEY);
    const seed = new DemoSeed({ keys, newId: () => clock.newId(), entropyKeyVersion: 1 });
    const demo = await database.transaction((tx) =>
      seed.run(tx, { apiKey: null, testApiKey: null, smppPassword: null, simulator: null }),
    );
    const line = await lineTo(postgres.url);
    const certificates = await ensureCertificates({ dataDir, hosts: ['127.0.0.1'], log: () => undefined });
    const environment = { ...(await environmentOf(line.url, certificates)), ...changes };
    const connect = { ca: readFileSync(certificates.caFile), localAddress: ownAddress() };
    const agent = new Agent({ connect, pipelining: 1 });
    const { notifier, queue } = await notifierOf(environment);
    const sessions = sessionsOf(database, clock, keys, notifier);
    const harness = new ControlPlaneHarness(
      postgres,
      database,
      clock,
      keys,
      sessions,
      demo,
      environment,
      line,
      agent,
      notifier,
      async () => {
        await agent.close();
        await notifier.close();
        await queue.close();
        await clock.stop();
        await database.close();
        await line.close();
        await postgres.stop();
        rmSync(dataDir, { recursive: true, force: true });
      },
    );
    await harness.start();
    return harness;
  }

  get baseUrl(): string {
    return `https://127.0.0.1:${this.environment['CONTROL_PLANE_PORT'] ?? ''}`;
  }

  /** The environment of a gateway of the same installation, without its ports. */
  get ofGateway(): Readonly<Record<string, string>> {
    const { DATABASE_URL = '', COUNTERSIGN_MASTER_KEY = '', REDIS_URL } = this.environment;
    return {
      DATABASE_URL: gatewayUrlBy(DATABASE_URL, this.home),
      COUNTERSIGN_MASTER_KEY,
      ...(REDIS_URL === undefined ? {} : { REDIS_URL }),
    };
  }

  get opsUrl(): string {
    return `http://127.0.0.1:${this.environment['CONTROL_PLANE_OPS_PORT'] ?? ''}`;
  }

  async start(environment = this.environment): Promise<void> {
    this.#stop = await this.launch(environment);
  }

  /** Starts one more control plane on the same database; returns the function that stops it. */
  async beside(): Promise<() => Promise<void>> {
    return (await this.neighbour()).stop;
  }

  /** Starts one more control plane on the same database with an address of its own; `changes` as in `open`. */
  async neighbour(
    changes: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly baseUrl: string; readonly stop: () => Promise<void> }> {
    const port = String(await freePort());
    const ports = { CONTROL_PLANE_PORT: port, CONTROL_PLANE_OPS_PORT: String(await freePort()) };
    return {
      baseUrl: `https://127.0.0.1:${port}`,
      stop: await this.launch({ ...this.environment, ...ports, ...changes }),
    };
  }

  async stop(): Promise<void> {
    await this.#stop?.();
    this.#stop = undefined;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.dispose();
  }

  /** Throws for an answer that does not fit `/v1/openapi.json`. */
  async call(target: string, call: Call = {}): Promise<Answer> {
    const answer = await this.ask(target, call);
    const faults = (await this.documented()).faults({ method: call.method ?? 'GET', target, ...answer });
    if (faults.length === 0) return answer;
    const { method = 'GET' } = call;
    throw new Error(`${method} ${target} answered ${answer.text}, which is not as documented:\n${faults.join('\n')}`);
  }

  /** The served description of the API, to check answers of other clients. */
  documented(): Promise<Documented> {
    this.#documented ??= this.ask('/v1/openapi.json', { key: null }).then(({ text }) => Documented.by(text));
    return this.#documented;
  }

  private async ask(
    target: string,
    { method = 'GET', key, headers = {}, baseUrl = this.baseUrl, dispatcher = this.agent, body }: Call,
  ): Promise<Answer> {
    const apiKey = key === undefined ? this.demo.apiKey : key;
    const response = await request(`${baseUrl}${target}`, {
      dispatcher,
      method,
      headers: {
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: bodyOf(body) }),
    });
    return answerOf(response.statusCode, response.headers, Buffer.from(await response.body.arrayBuffer()));
  }

  /** Creates a session from the default body with changes; undefined removes a field. */
  create(changes: Readonly<Record<string, unknown>> = {}, call: Call = {}): Promise<Answer> {
    return this.call('/v1/verify', { method: 'POST', body: this.createBody(changes), ...call });
  }

  createBody(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    const { accountId, brandId } = this.demo;
    return { phone: PHONE, accountId, brandId, clientChallenge: 'ab'.repeat(32), ...changes };
  }

  /** Approves a session, also a test session, as its phone's SMS does: one transaction, then the notification. */
  async approve(sessionId: string, options: { readonly notify?: boolean } = {}): Promise<void> {
    const id = parseId('sess', sessionId) ?? '';
    const evidence = { tokens: [this.tokenOf(id)], senders: [PHONE], trusted: true };
    const mode = await this.modeOf(id);
    const { verdicts, eventIds } = await this.database.transaction((tx) =>
      this.sessions.matchInbound(tx, mode, [evidence]),
    );
    if (verdicts[0]?.fate !== 'matched') throw new Error(`the SMS was ${String(verdicts[0]?.fate)}`);
    if (options.notify ?? true) this.notifier.notify(eventIds);
  }

  /** The session's token arrives from another phone. */
  async mismatch(sessionId: string): Promise<void> {
    const tokens = [this.tokenOf(parseId('sess', sessionId) ?? '')];
    const evidence = { tokens, senders: ['+442071838750'], trusted: true };
    const { eventIds } = await this.database.transaction((tx) => this.sessions.matchInbound(tx, 'live', [evidence]));
    this.notifier.notify(eventIds);
  }

  /** The number of sessions. */
  async countSessions(): Promise<number> {
    const [row] = await this.database.query<{ count: number }>('SELECT count(*)::int AS count FROM sessions');
    return row?.count ?? 0;
  }

  private async launch(environment: Readonly<Record<string, string>>): Promise<() => Promise<void>> {
    const settings = loadSettings(ControlPlaneSettings, environment);
    const destination = { write: (line: string) => void this.log.push(line) };
    const logger = createLogger({ app: 'control-plane', level: 'debug', destination });
    const shutdown = await startControlPlane(settings, logger, () => undefined);
    return () => shutdown.run('the test is over');
  }

  private async modeOf(id: string): Promise<Mode> {
    const [row] = await this.database.query<{ test: boolean }>('SELECT test FROM sessions WHERE id = $1', [id]);
    return modeOf(row?.test === true);
  }

  private tokenOf(id: string): { slug: string; token: string } {
    return { slug: this.demo.brandSlug, token: deriveToken(this.keys, id) };
  }
}

async function environmentOf(
  databaseUrl: string,
  certificates: { readonly certFile: string; readonly keyFile: string },
): Promise<Record<string, string>> {
  return {
    DATABASE_URL: databaseUrl,
    ...(process.env['REDIS_URL'] === undefined ? {} : { REDIS_URL: process.env['REDIS_URL'] }),
    COUNTERSIGN_MASTER_KEY: MASTER_KEY.toString('base64'),
    COUNTERSIGN_ENTROPY_KEYS: `1:${ENTROPY_KEY.toString('base64')}`,
    COUNTERSIGN_ADMIN_KEY: createApiKey('admin'),
    TLS_CERT_FILE: certificates.certFile,
    TLS_KEY_FILE: certificates.keyFile,
    CONTROL_PLANE_PORT: String(await freePort()),
    CONTROL_PLANE_OPS_PORT: String(await freePort()),
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_HOST_PER_SECOND: '10000',
  };
}

/** The gateway's side of the queue. */
async function notifierOf(
  environment: Readonly<Record<string, string>>,
): Promise<{ notifier: JobNotifier; queue: Queue }> {
  const { databaseUrl, redisUrl } = loadSettings(ControlPlaneSettings, environment);
  await prepareQueues({ databaseUrl, redisUrl });
  const connection = queueConnection({ databaseUrl, redisUrl }, 'producer');
  const queue = new Queue(QUEUES.webhooks, { connection, prefix: QUEUE_PREFIX });
  queue.on('error', () => undefined);
  return { notifier: new JobNotifier(queue, () => undefined), queue };
}

function sessionsOf(database: Database, clock: DatabaseClock, keys: ServerKeys, notifier: JobNotifier): SessionStore {
  return new SessionStore({
    database,
    clock,
    keys,
    listener: { onEvents: (ids) => notifier.notify(ids) },
  });
}

/**
 * All of 127.0.0.0/8 is this computer on Linux: harnesses that share a Redis each get their own quota for wrong keys.
 */
export function ownAddress(): string {
  const part = (): number => randomInt(1, 255);
  return process.platform === 'linux' ? `127.${part()}.${part()}.${part()}` : '127.0.0.1';
}

const bodyOf = (body: unknown): string | Buffer =>
  typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);

function decoded(octets: Buffer, coding: string | string[] | undefined): Buffer {
  // The answer to a HEAD has the header and no body.
  if (octets.length === 0) return octets;
  if (coding === 'br') return brotliDecompressSync(octets);
  return coding === 'gzip' ? gunzipSync(octets) : octets;
}

function answerOf(status: number, headers: Answer['headers'], octets: Buffer): Answer {
  const text = decoded(octets, headers['content-encoding']).toString('utf8');
  const isJson = String(headers['content-type']).startsWith('application/json');
  const json = (isJson && text !== '' ? JSON.parse(text) : {}) as Record<string, unknown>;
  const error = json['error'] as { code?: string; field?: string } | undefined;
  return { status, headers, text, octets, json, code: error?.code, field: error?.field };
}
