import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { serverAccount } from '../../config/stack/postgres-binaries.mjs';
import { freePort } from '../../config/stack/postgres.mjs';
import { ensureRoles, roleUrls } from '../../config/stack/postgres-roles.mjs';
import { commandLine, parentOf } from '../../config/stack/processes.mjs';
import { POSTGRES_BIN, PROGRAMS } from './cluster-programs.js';
import type { DatabaseUrls } from './database.js';
import { stopProcess } from './programs.js';
import { until } from './until.js';

const HOST = '127.0.0.1';
const READY_MS = 90_000;
const REST_MS = 2_000;
/** A switchover is answered once the other node is the primary. */
const SWITCHOVER_MS = 60_000;
const SUPERUSER = 'countersign';
const REPLICATION = 'replicator';
/**
 * Seconds. Patroni's defaults are 30, 10 and 10: a failover takes as long as the primary's key lives (`ttl`), so the tests
 * shorten it. A node that cannot reach etcd for `retry_timeout` demotes itself: less would fail on a busy machine.
 */
const PATRONI_TIMES = { ttl: 15, loop_wait: 2, retry_timeout: 6 } as const;
/** As root etcd and the nodes go before others, so that a busy machine causes no failover of its own. */
const PRIORITY = -10;

/** How clients find the primary: by HAProxy, or by a list of all hosts in their URL. */
export type PathToPrimary = 'proxy' | 'hosts';

export interface ClusterNode {
  readonly name: string;
  readonly postgresPort: number;
  /** Of Patroni's REST API. */
  readonly restPort: number;
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

/**
 * Two PostgreSQL servers under Patroni, a primary and a synchronous standby, with etcd, and HAProxy, which leads to the node
 * whose Patroni says that it is the primary. Everything listens on loopback only.
 */
export class PostgresCluster {
  readonly #folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-cluster-'));
  readonly #account = serverAccount();
  readonly #password = randomBytes(18).toString('base64url');
  readonly #patronis = new Map<ClusterNode, ChildProcess>();
  readonly #others: ChildProcess[] = [];
  /** Processes of nodes that are stopped by SIGSTOP. */
  readonly #frozen = new Map<ClusterNode, readonly number[]>();
  #nodes: readonly [ClusterNode, ClusterNode] | null = null;
  #etcdPort = 0;
  #proxyPort = 0;

  private constructor() {
    this.#give(this.#folder);
    // PostgreSQL's account passes through; passwords are in files of mode 0600.
    chmodSync(this.#folder, 0o711);
  }

  /** Resolves when the standby is synchronous and HAProxy leads to the primary. */
  static async start(): Promise<PostgresCluster> {
    const cluster = new PostgresCluster();
    try {
      await cluster.#run();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Creates a database with the roles of an installation; its URLs lead through HAProxy. */
  async createDatabase(name: string): Promise<DatabaseUrls> {
    const server = this.#superuserUrl(this.#proxyPort);
    await withClient(server, (client) => client.query(`CREATE DATABASE ${name}`));
    const url = new URL(server);
    url.pathname = `/${name}`;
    await ensureRoles(url.href);
    const { ownerUrl, appUrl, gatewayUrl } = roleUrls(url.href);
    return { url: appUrl, gatewayUrl, ownerUrl };
  }

  /** The same role and database by that path. */
  urlBy(to: PathToPrimary, proxyUrl: string): string {
    if (to === 'proxy') return proxyUrl;
    const hosts = this.nodes.map(({ postgresPort }) => `${HOST}:${postgresPort}`).join(',');
    return `${proxyUrl.replace(`${HOST}:${this.#proxyPort}`, hosts)}?target_session_attrs=read-write`;
  }

  get nodes(): readonly [ClusterNode, ClusterNode] {
    if (this.#nodes === null) throw new Error('the cluster was not started');
    return this.#nodes;
  }

  other(than: ClusterNode): ClusterNode {
    const [one, other] = this.nodes;
    return than === one ? other : one;
  }

  /** The node that holds the key of the primary. */
  async primary(): Promise<ClusterNode> {
    for (const node of this.nodes) if (await this.#holdsKey(node)) return node;
    throw new Error('no node is the primary');
  }

  /** Whether the server of the node takes writes: it is not, or no longer, a standby. */
  takesWrites({ postgresPort }: ClusterNode): Promise<boolean> {
    return this.#takesWrites(postgresPort);
  }

  async #takesWrites(port: number): Promise<boolean> {
    const read = 'SELECT NOT pg_is_in_recovery() AS "takesWrites"';
    return withClient(this.#superuserUrl(port), async (client) => {
      const { rows } = await client.query<{ takesWrites: boolean }>(read);
      return rows[0]?.takesWrites === true;
    }).catch(() => false);
  }

  /** Resolves when one node is the primary and the other its synchronous standby. */
  async settled(): Promise<void> {
    let last = '';
    await until('one node is the primary, the other its synchronous standby', READY_MS, async () => {
      const members = await this.#members();
      last = JSON.stringify(members);
      const roles = members.filter(({ state }) => ['running', 'streaming'].includes(state)).map(({ role }) => role);
      return roles.includes('leader') && roles.includes('sync_standby');
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${last}\n${this.logs()}`);
    });
  }

  /** The machine of the node is lost: SIGKILL of its Patroni and of all processes of its PostgreSQL. */
  async kill(node: ClusterNode): Promise<void> {
    signalAll(this.#postgresOf(node), 'SIGKILL');
    await this.#end(this.#patroniOf(node));
    // One that it had just started.
    signalAll(this.#postgresOf(node), 'SIGKILL');
    this.#patronis.delete(node);
    this.#frozen.delete(node);
  }

  /** Starts the Patroni of a node that was killed. */
  restart(node: ClusterNode): void {
    this.#patronis.set(node, this.#spawn(PROGRAMS.patroni, [this.#fileOf(node, 'json')], `${node.name}.log`));
  }

  /** The machine of the node hangs: SIGSTOP of the same processes. */
  freeze(node: ClusterNode): void {
    const server = this.#postgresOf(node);
    signalAll([this.#patroniOf(node).pid ?? 0, ...server], 'SIGSTOP');
    this.#frozen.set(node, server);
  }

  /**
   * The server runs on, and its Patroni is started anew, as a watchdog does: Patroni 3.0 with etcd's API 3, continued in the
   * middle of its loop, takes the key back from a node that was promoted meanwhile.
   */
  async thaw(node: ClusterNode): Promise<void> {
    await this.#end(this.#patroniOf(node));
    signalAll(this.#frozen.get(node) ?? [], 'SIGCONT');
    this.#frozen.delete(node);
    this.restart(node);
  }

  /** A planned change: the standby becomes the primary. Resolves when Patroni says so. */
  async switchover(): Promise<void> {
    const leader = await this.primary();
    const response = await fetch(`http://${HOST}:${leader.restPort}/switchover`, {
      method: 'POST',
      body: JSON.stringify({ leader: leader.name, candidate: this.other(leader).name }),
      signal: AbortSignal.timeout(SWITCHOVER_MS),
    });
    if (!response.ok) throw new Error(`switchover: ${response.status} ${await response.text()}`);
  }

  /** Ends all processes and removes the folder. */
  async stop(): Promise<void> {
    for (const node of [...this.#patronis.keys()]) await this.kill(node);
    for (const child of this.#others.splice(0).reverse()) await stopProcess(child);
    // A server that was killed may still be in its own folder.
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }

  /** The ends of the logs, for the message of a failure. */
  logs(): string {
    const names = readdirSync(this.#folder).filter((name) => name.endsWith('.log'));
    return names
      .map((name) => `--- ${name}\n${readFileSync(path.join(this.#folder, name), 'utf8').slice(-2_000)}`)
      .join('\n');
  }

  async #run(): Promise<void> {
    await this.#startEtcd();
    const node = async (name: string): Promise<ClusterNode> => ({
      name,
      postgresPort: await freePort(),
      restPort: await freePort(),
    });
    this.#nodes = [await node('north'), await node('south')];
    for (const each of this.#nodes) {
      this.#write(`${each.name}.json`, JSON.stringify(this.#patroniOptions(each)));
      this.restart(each);
    }
    await this.settled();
    await this.#startProxy();
  }

  async #startEtcd(): Promise<void> {
    this.#etcdPort = await freePort();
    const client = `http://${HOST}:${this.#etcdPort}`;
    const peer = `http://${HOST}:${await freePort()}`;
    const urls = {
      'listen-client': client,
      'advertise-client': client,
      'listen-peer': peer,
      'initial-advertise-peer': peer,
    };
    const flags = Object.entries(urls).map(([name, url]) => `--${name}-urls=${url}`);
    const own = ['--name=etcd', `--data-dir=${path.join(this.#folder, 'etcd')}`, `--initial-cluster=etcd=${peer}`];
    this.#others.push(this.#spawn(PROGRAMS.etcd, [...own, ...flags], 'etcd.log'));
    const isHealthy = (): Promise<boolean> =>
      fetch(`${client}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until('etcd is healthy', READY_MS, isHealthy);
  }

  async #startProxy(): Promise<void> {
    this.#proxyPort = await freePort();
    const config = this.#write('haproxy.cfg', this.#proxyConfiguration());
    // In the foreground: a process of its own account that this one can end.
    this.#others.push(this.#spawn(PROGRAMS.haproxy, ['-db', '-f', config], 'haproxy.log'));
    // Before its first checks it takes both for primaries and leads to them in turns.
    const isPrimary = (): Promise<boolean> => this.#takesWrites(this.#proxyPort);
    await until('HAProxy leads to the primary', READY_MS, async () => (await isPrimary()) && isPrimary());
  }

  /** Patroni reads YAML, of which JSON is a part. */
  #patroniOptions(node: ClusterNode): object {
    const address = `${HOST}:${node.postgresPort}`;
    const rest = `${HOST}:${node.restPort}`;
    const superuser = { username: SUPERUSER, password: this.#password };
    return {
      scope: 'countersign',
      name: node.name,
      restapi: { listen: rest, connect_address: rest },
      etcd3: { host: `${HOST}:${this.#etcdPort}` },
      bootstrap: {
        dcs: { ...PATRONI_TIMES, synchronous_mode: true, postgresql: { use_pg_rewind: true } },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
      },
      postgresql: {
        listen: address,
        connect_address: address,
        data_dir: this.#fileOf(node, 'data'),
        bin_dir: POSTGRES_BIN,
        pgpass: this.#fileOf(node, 'pgpass'),
        authentication: { superuser, replication: { username: REPLICATION, password: this.#password } },
        pg_hba: [`host all all ${HOST}/32 scram-sha-256`, `host replication ${REPLICATION} ${HOST}/32 scram-sha-256`],
        parameters: { unix_socket_directories: '', max_connections: 400, shared_buffers: '64MB', timezone: 'UTC' },
      },
    };
  }

  /** As Patroni's documentation has it. */
  #proxyConfiguration(): string {
    const servers = this.nodes.map(
      ({ name, postgresPort, restPort }) => `  server ${name} ${HOST}:${postgresPort} check port ${restPort}`,
    );
    return [
      'defaults',
      '  mode tcp',
      '  timeout connect 1s',
      '  timeout check 1s',
      '  timeout client 30m',
      '  timeout server 30m',
      'listen primary',
      `  bind ${HOST}:${this.#proxyPort}`,
      '  option httpchk OPTIONS /primary',
      '  http-check expect status 200',
      '  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions',
      ...servers,
    ].join('\n');
  }

  async #holdsKey({ restPort }: ClusterNode): Promise<boolean> {
    const url = `http://${HOST}:${restPort}/primary`;
    return fetch(url, { signal: AbortSignal.timeout(REST_MS) }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  async #members(): Promise<readonly Member[]> {
    for (const { restPort } of this.nodes) {
      const url = `http://${HOST}:${restPort}/cluster`;
      const response = await fetch(url, { signal: AbortSignal.timeout(REST_MS) }).catch(() => null);
      if (response?.ok === true) return ((await response.json()) as { readonly members: readonly Member[] }).members;
    }
    return [];
  }

  /** SIGKILL also ends a process that is stopped. */
  async #end(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  #patroniOf(node: ClusterNode): ChildProcess {
    const child = this.#patronis.get(node);
    if (child === undefined) throw new Error(`${node.name} does not run`);
    return child;
  }

  /** The ids of the server's first process and of those that it has started; none without a server. */
  #postgresOf(node: ClusterNode): number[] {
    const file = path.join(this.#fileOf(node, 'data'), 'postmaster.pid');
    if (!existsSync(file)) return [];
    const first = Number(readFileSync(file, 'utf8').split('\n')[0]);
    // The id may have been used again.
    if (!commandLine(first).includes(this.#fileOf(node, 'data'))) return [];
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return [first, ...pids.map(Number).filter((pid) => parentOf(pid) === first)];
  }

  #superuserUrl(port: number): string {
    return `postgres://${SUPERUSER}:${this.#password}@${HOST}:${port}/postgres`;
  }

  #fileOf({ name }: ClusterNode, kind: string): string {
    return path.join(this.#folder, `${name}.${kind}`);
  }

  #write(name: string, text: string): string {
    const file = path.join(this.#folder, name);
    writeFileSync(file, `${text}\n`, { mode: 0o600 });
    this.#give(file);
    return file;
  }

  /** PostgreSQL does not run as root: the files of the cluster belong to the account that runs it. */
  #give(file: string): void {
    const { uid, gid } = this.#account;
    if (uid !== undefined && gid !== undefined) chownSync(file, uid, gid);
  }

  #spawn(program: string | null, args: readonly string[], logName: string): ChildProcess {
    if (program === null) throw new Error(`a program of the cluster is missing (${args.join(' ')})`);
    const log = openSync(path.join(this.#folder, logName), 'a');
    const child = spawn(program, args, {
      ...this.#account,
      cwd: this.#folder,
      env: { PATH: '/usr/sbin:/usr/bin:/bin', HOME: this.#folder, LC_ALL: 'C' },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    if (this.#account.uid !== undefined && child.pid !== undefined) os.setPriority(child.pid, PRIORITY);
    return child;
  }
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      if (pid > 1) process.kill(pid, signal);
    } catch (error) {
      // It has ended meanwhile, with its parent.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}

async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: REST_MS, query_timeout: REST_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    client.end().catch(() => undefined);
  }
}
