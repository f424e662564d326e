import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { findRedis } from '../../config/stack/redis.mjs';
import { freePort } from '../../config/stack/ports.mjs';
import { until } from './until.js';

const READY_MS = 15_000;
const HOST = '127.0.0.1';

/** Redis servers of a test, on loopback, without passwords. */
export class RedisServers {
  readonly #folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-redis-'));
  readonly #children: ChildProcess[] = [];
  readonly #clients: Redis[] = [];

  /** A master, a replica of it, and a Sentinel that watches them as `mymaster`. Returns the Sentinel's port. */
  async startSentinel(): Promise<{ readonly sentinelPort: number; readonly masterPort: number }> {
    const [masterPort, replicaPort, sentinelPort] = [await freePort(), await freePort(), await freePort()];
    await this.start(masterPort, []);
    await this.start(replicaPort, [`replicaof ${HOST} ${masterPort}`]);
    const master = this.client(masterPort);
    await until('the replica is in step', READY_MS, async () =>
      (await master.info('replication')).includes('state=online'),
    );
    const watched = [
      `sentinel monitor mymaster ${HOST} ${masterPort} 1`,
      'sentinel down-after-milliseconds mymaster 1000',
      'sentinel failover-timeout mymaster 3000',
    ];
    await this.start(sentinelPort, watched, ['--sentinel']);
    const sentinel = this.client(sentinelPort);
    await until('the Sentinel knows the replica', READY_MS, async () =>
      String(await sentinel.call('SENTINEL', 'REPLICAS', 'mymaster')).includes(String(replicaPort)),
    );
    return { sentinelPort, masterPort };
  }

  /** Kills the server that listens on a port. */
  async kill(port: number): Promise<void> {
    const child = this.#children.find(({ spawnargs }) =>
      spawnargs.some((argument) => argument.endsWith(`${port}.conf`)),
    );
    if (child === undefined) throw new Error(`no server on ${port}`);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  /** A Redis Cluster of three masters without replicas. Returns their ports. */
  async startCluster(): Promise<number[]> {
    const ports = [await freePort(), await freePort(), await freePort()];
    for (const port of ports) {
      // The default port of the cluster bus is out of the range of private ports.
      const settings = [
        'cluster-enabled yes',
        `cluster-port ${await freePort()}`,
        `cluster-config-file nodes-${port}.conf`,
      ];
      await this.start(port, settings);
    }
    const clients = ports.map((port) => this.client(port));
    const slots = [
      [0, 5460],
      [5461, 10_922],
      [10_923, 16_383],
    ];
    for (const [at, client] of clients.entries()) {
      await client.call('CLUSTER', 'ADDSLOTSRANGE', ...(slots[at] ?? []));
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', at + 1);
    }
    const [first] = clients;
    const busPorts = await Promise.all(
      clients.map(async (client) => String(((await client.config('GET', 'cluster-port')) as string[])[1])),
    );
    for (const [at, port] of ports.entries()) await first?.call('CLUSTER', 'MEET', HOST, port, busPorts[at] ?? '');
    await until('all nodes know the cluster', READY_MS, async () => {
      const infos = await Promise.all(clients.map((client) => client.cluster('INFO')));
      return infos.every((info) => info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3'));
    });
    return ports;
  }

  /** Stops all servers. */
  async stop(): Promise<void> {
    for (const client of this.#clients) client.disconnect();
    const running = this.#children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    await Promise.all(
      running.map((child) => {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGKILL');
        return ended;
      }),
    );
    rmSync(this.#folder, { recursive: true, force: true });
  }

  private client(port: number): Redis {
    const client = new Redis({ host: HOST, port, maxRetriesPerRequest: null });
    client.on('error', () => undefined);
    this.#clients.push(client);
    return client;
  }

  private async start(port: number, settings: readonly string[], flags: readonly string[] = []): Promise<void> {
    const file = findRedis();
    if (file === undefined) throw new Error('there is no Redis');
    const config = path.join(this.#folder, `${port}.conf`);
    const own = [`bind ${HOST}`, `port ${port}`, `dir ${this.#folder}`, `dbfilename ${port}.rdb`];
    const common = flags.length > 0 ? own.slice(0, 3) : [...own, 'save ""', 'appendonly no'];
    writeFileSync(config, `${[...common, ...settings].join('\n')}\n`);
    this.#children.push(spawn(file, [config, ...flags], { stdio: 'ignore' }));
    await this.client(port).ping();
  }
}
