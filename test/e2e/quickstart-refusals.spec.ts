import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts, Launcher, type Ports, processesOf, temporaryFolder } from '../support/stack.js';
import { until } from '../support/until.js';

const READY_MS = 100_000;
const GONE_MS = 30_000;
const data = temporaryFolder();
let ports: Ports;

beforeAll(async () => {
  ports = await freePorts();
});

afterAll(() => data.remove());

const start = (environment: Record<string, string> = {}): Launcher =>
  Launcher.start({ dataDir: data.folder, ports, environment: { REDIS_URL: '', ...environment } });

describe('npm start names the remedy', () => {
  it.each(['CONTROL_PLANE_PORT', 'GATEWAY_SMPP_PORT'] as const)(
    'when the port of %s is taken, and by whom',
    async (variable) => {
      const port = ports[variable];
      const other = net.createServer();
      await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
      const launcher = start();
      expect(await launcher.ended).toBe(1);
      await new Promise((resolve) => other.close(resolve));
      expect(launcher.output).toMatch(new RegExp(`port ${port} is taken by .+set ${variable}`));
    },
  );

  it.each([
    [{ CONTROL_PLANE_PORT: 'https' }, /CONTROL_PLANE_PORT is "https": it must be a port, 1 to 65535/],
    [{ DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/none' }, /DATABASE_URL: nothing answers at 127.0.0.1 port 1/],
    [{ RETENTION_DAYS: '0' }, /RETENTION_DAYS/],
    [{ RCS_DELIVERY_WAIT_MS: '9000' }, /RCS_DELIVERY_WAIT_MS/],
    [{ RBM_CLIENT_TOKEN: 'short' }, /RBM_CLIENT_TOKEN/],
    [{ NODE_ENV: 'production' }, /npm start is a development run/],
    [{ NODE_ENV: 'prod' }, /NODE_ENV is "prod". Allowed: production, development, test/],
    [{ COUNTERSIGN_DATA_DIR: '/dev/null/x' }, /cannot write to \/dev\/null\/x .*set COUNTERSIGN_DATA_DIR/],
  ])('to an environment like %o', async (environment: Record<string, string>, words) => {
    const launcher = start(environment);
    expect(await launcher.ended).toBe(1);
    expect(launcher.output).toMatch(words);
    expect(launcher.output).not.toContain('secret@');
    expect(processesOf(data.folder)).toEqual([]);
  });
});

describe('a run', () => {
  it('is the only one in its data directory, ends with its apps, and says why', async () => {
    const launcher = start();
    await launcher.ready(READY_MS);

    const second = start();
    expect(await second.ended).toBe(1);
    expect(second.output).toMatch(/already runs from .+ \(process \d+\)/);

    const processes = JSON.parse(readFileSync(path.join(data.folder, 'processes.json'), 'utf8')) as {
      name: string;
      pid: number;
    }[];
    const gateway = processes.find(({ name }) => name === 'gateway');
    process.kill(gateway?.pid ?? 0, 'SIGKILL');
    expect(await launcher.ended).toBe(1);
    expect(launcher.output).toContain('gateway ended unexpectedly (SIGKILL)');
    await until('every process is gone', GONE_MS, () => processesOf(data.folder).length === 0);
  });

  it('that is stopped while it comes up leaves nothing behind', async () => {
    // The stop may come at any stage: the times need only differ.
    for (const afterMs of [50, 200, 500, 900]) {
      const launcher = start();
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await launcher.end('SIGINT');
      expect(processesOf(data.folder), launcher.output).toEqual([]);
    }
  });
});
