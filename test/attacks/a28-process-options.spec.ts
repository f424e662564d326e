import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import inspector from 'node:inspector';
import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { ControlPlaneSettings, GatewaySettings, loadSettings, SettingsError } from '@countersign/settings';
import { ROOT } from '../support/stack.js';

const PASSWORD = 'hunter2-of-redis';
const key = (): string => randomBytes(32).toString('base64');
const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://u:p@127.0.0.1/x',
  COUNTERSIGN_MASTER_KEY: key(),
  COUNTERSIGN_ENTROPY_KEYS: `1:${key()}`,
  COUNTERSIGN_ADMIN_KEY: `csk_admin_${randomBytes(19).toString('hex')}`,
  TLS_MODE: 'proxy',
  TRUSTED_PROXIES: '10.0.0.0/8',
};

function faultsOf(environment: Record<string, string>): SettingsError['faults'] {
  const found: SettingsError['faults'][number][] = [];
  for (const settings of [ControlPlaneSettings, GatewaySettings]) {
    try {
      loadSettings<object>(settings, { ...PRODUCTION, ...environment });
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      found.push(...error.faults);
    }
  }
  return found;
}

/** The output of a client of Redis with these variables, connected to a server that closes after its first command. */
async function printedByRedis(environment: Record<string, string>): Promise<string> {
  const server = net.createServer((socket) => socket.once('data', () => socket.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const program = `import { Redis } from 'ioredis';
    const redis = new Redis({ host: '127.0.0.1', port: ${port}, password: process.env.PASSWORD, retryStrategy: () => null });
    redis.on('error', () => undefined).on('end', () => process.exit(0));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], PASSWORD, ...environment },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += String(data)));
  await once(child, 'close');
  server.close();
  return printed;
}

describe('A28 options of the process that print secrets', () => {
  it('A28 DEBUG would print the password of Redis, so neither daemon starts with it in production', async () => {
    for (const DEBUG of ['*', 'ioredis*', 'ioredis:redis']) {
      expect(await printedByRedis({ DEBUG })).toContain(PASSWORD);
      expect(faultsOf({ DEBUG })).toMatchObject([{ variable: 'DEBUG' }, { variable: 'DEBUG' }]);
    }
    for (const DEBUG of ['false', 'express:*']) {
      expect(await printedByRedis({ DEBUG })).not.toContain(PASSWORD);
      expect(faultsOf({ DEBUG })).toEqual([]);
    }
    expect(faultsOf({ DEBUG: '*', NODE_ENV: 'development' })).toEqual([]);
  });

  it.each([
    ['NODE_OPTIONS', '--inspect=0.0.0.0:9229'],
    ['NODE_OPTIONS', '--tls-keylog=/tmp/keys'],
    ['NODE_OPTIONS', '--report-on-signal'],
    ['NODE_OPTIONS', '--heapsnapshot-signal=SIGUSR2'],
    ['NODE_DEBUG', 'tls,http'],
  ])('A28 %s=%s is refused in production', (name, value) => {
    expect(faultsOf({ [name]: value })).toMatchObject([{ variable: name }, { variable: name }]);
  });

  it('A28 a debugger that is open on loopback is named in a warning', () => {
    const { COUNTERSIGN_ENTROPY_KEYS: _entropy, COUNTERSIGN_ADMIN_KEY: _admin, ...ofGateways } = PRODUCTION;
    const warnings = (): string[] => loadSettings(GatewaySettings, ofGateways).warnings();
    expect(warnings()).toEqual([]);
    inspector.open(0, '127.0.0.1');
    try {
      expect(warnings()).toEqual([expect.stringMatching(/^a debugger is open on loopback/)]);
    } finally {
      inspector.close();
    }
  });
});
