import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createApiKey, ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { ensurePartitions } from '@countersign/postgres/partitions';
import { CarrierStore } from '@countersign/carriers/config';
import { Agent, request, type Dispatcher } from 'undici';
import { DemoSeed, type SeededDemo } from '../../apps/control-plane/src/demo/demo-account.js';
import { ensureCertificates } from '../../config/stack/certificates.mjs';
import { freePort, startPostgres } from '../../config/stack/postgres.mjs';
import { Esme } from './esme.js';
import { migrated } from './database.js';
import { AppPart } from './parts.js';
import { until } from './until.js';

const ROTATE = path.resolve('dist/apps/control-plane/src/key-rotation/rotate-master-key.js');
const MASTERS = new Map([1, 2].map((version) => [version, Buffer.alloc(32, version)]));
const ENTROPY_KEY = Buffer.alloc(32, 9);

/** Versions of the master key in the order in which a process lists them. */
export type Ring = readonly number[];

const textOf = (ring: Ring): string =>
  ring.map((version) => `${version}:${MASTERS.get(version)?.toString('base64') ?? ''}`).join();

export interface Answer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

/** A process that can restart with another ring on the same ports. */
export class Member {
  #part: AppPart | undefined;
  #calls = 0;
  isUp = false;

  constructor(
    readonly app: 'control-plane' | 'gateway',
    readonly port: number,
    private readonly opsPort: number,
    private readonly environment: Readonly<Record<string, string>>,
  ) {}

  async start(ring: Ring): Promise<void> {
    const environment = { ...this.environment, COUNTERSIGN_MASTER_KEY: textOf(ring) };
    this.#part = new AppPart(this.app, environment, this.opsPort);
    await this.#part.start();
    this.isUp = true;
  }

  /** Stops as behind a load balancer: no new calls, wait for running calls, then stop the process. */
  async stop(): Promise<void> {
    this.isUp = false;
    await until('no call is running', 10_000, () => this.#calls === 0);
    await this.#part?.stop();
  }

  async during<T>(call: () => Promise<T>): Promise<T> {
    this.#calls += 1;
    try {
      return await call();
    } finally {
      this.#calls -= 1;
    }
  }
}

/** Two control planes and two gateways on one PostgreSQL, each with its own ring. */
export class RotationHarness {
  private constructor(
    readonly database: Database,
    readonly clock: DatabaseClock,
    /** A ring with all versions, which opens the values of every process. */
    readonly keys: ServerKeys,
    readonly demo: SeededDemo,
    readonly caFile: string,
    readonly controlPlanes: readonly [Member, Member],
    readonly gateways: readonly [Member, Member],
    private readonly agent: Agent,
    private readonly databaseUrl: string,
    private readonly dispose: () => Promise<void>,
  ) {}

  /** Creates the database with data of version 1. The test starts the members. */
  static async open(): Promise<RotationHarness> {
    const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-rotation-'));
    const postgres = await startPostgres({ dataDir, log: () => undefined, port: await freePort() });
    await migrated(postgres);
    const onError = (): void => undefined;
    const options = { url: postgres.url, poolMax: 4, applicationName: 'test', onError };
    const database = await Database.open(options);
    const clock = await DatabaseClock.start(database, onError);
    await ensurePartitions(database, clock.nowMs());
    const demo = await seed(database, clock);
    const certificates = await ensureCertificates({ dataDir, hosts: ['127.0.0.1'], log: () => undefined });
    const common = {
      NODE_ENV: 'development',
      LOG_LEVEL: 'error',
      DATABASE_URL: postgres.url,
      TLS_CERT_FILE: certificates.certFile,
      TLS_KEY_FILE: certificates.keyFile,
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      WEBHOOK_ALLOW_HTTP: 'true',
      COUNTERSIGN_ADMIN_KEY: createApiKey('admin'),
    };
    const ofGateway = { ...common, DATABASE_URL: postgres.gatewayUrl };
    const agent = new Agent({ connect: { ca: readFileSync(certificates.caFile) }, pipelining: 0 });
    const controlPlanes = [await controlPlane(common), await controlPlane(common)] as const;
    const gateways = [await gateway(ofGateway), await gateway(ofGateway)] as const;
    const keys = ServerKeys.fromRing(MASTERS);
    const members = [...controlPlanes, ...gateways];
    const dispose = async (): Promise<void> => {
      await Promise.all(members.map((member) => member.stop()));
      await agent.close();
      await clock.stop();
      await database.close();
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    };
    const { caFile } = certificates;
    return new RotationHarness(
      database,
      clock,
      keys,
      demo,
      caFile,
      controlPlanes,
      gateways,
      agent,
      postgres.url,
      dispose,
    );
  }

  close(): Promise<void> {
    return this.dispose();
  }

  /** Calls one control plane, by default with the live key of the demo account. */
  call(
    member: Member,
    target: string,
    call: {
      readonly method?: Dispatcher.HttpMethod;
      readonly body?: object;
      readonly headers?: Record<string, string>;
      readonly key?: string;
    } = {},
  ): Promise<Answer> {
    const { method = 'GET', body, headers = {}, key = this.demo.apiKey } = call;
    return member.during(async () => {
      const response = await request(`https://127.0.0.1:${member.port}${target}`, {
        dispatcher: this.agent,
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.body.text();
      return { status: response.statusCode, json: (text === '' ? {} : JSON.parse(text)) as Answer['json'] };
    });
  }

  esme(member: Member): Promise<Esme> {
    return Esme.bound({ port: member.port, ...this.demo.smpp });
  }

  /** Runs the operators' command as a separate process with this ring. */
  async rotateMasterKey(ring: Ring, ...flags: readonly string[]): Promise<string> {
    const environment = { ...process.env, DATABASE_URL: this.databaseUrl, COUNTERSIGN_MASTER_KEY: textOf(ring) };
    const { stdout } = await promisify(execFile)(process.execPath, [ROTATE, ...flags], { env: environment });
    return stdout;
  }
}

async function seed(database: Database, clock: DatabaseClock): Promise<SeededDemo> {
  const keys = ServerKeys.fromRing(new Map([[1, MASTERS.get(1) ?? Buffer.alloc(0)]]));
  const newId = (): string => clock.newId();
  const demo = new DemoSeed({ keys, newId, entropyKeyVersion: 1 });
  const seeded = await database.transaction((tx) =>
    demo.run(tx, { apiKey: null, testApiKey: null, smppPassword: null, simulator: null }),
  );
  const carriers = new CarrierStore({ keys, newId });
  // No SMSC listens there, so codes stay queued and the test reads them.
  const hosts = [{ host: '127.0.0.1', port: 9 }];
  const bind = await carriers.createBind(database, {
    name: 'out',
    carrier: 'out',
    hosts,
    systemId: 'out',
    password: 'secret08',
  });
  await carriers.createRoute(database, { prefix: '+', bindId: bind.id });
  await database.query(`UPDATE accounts SET otp_countries = '{*}'`);
  return seeded;
}

async function controlPlane(common: Readonly<Record<string, string>>): Promise<Member> {
  const [port, opsPort] = [await freePort(), await freePort()];
  return new Member('control-plane', port, opsPort, {
    ...common,
    COUNTERSIGN_ENTROPY_KEYS: `1:${ENTROPY_KEY.toString('base64')}`,
    CONTROL_PLANE_PORT: String(port),
    CONTROL_PLANE_OPS_PORT: String(opsPort),
  });
}

/** A gateway has only the master key, no other secret. */
async function gateway({ COUNTERSIGN_ADMIN_KEY: _, ...common }: Readonly<Record<string, string>>): Promise<Member> {
  const [port, opsPort] = [await freePort(), await freePort()];
  return new Member('gateway', port, opsPort, {
    ...common,
    GATEWAY_SMPP_PORT: String(port),
    GATEWAY_SMPP_TLS_PORT: String(await freePort()),
    GATEWAY_HTTP_PORT: String(await freePort()),
    GATEWAY_OPS_PORT: String(opsPort),
  });
}
