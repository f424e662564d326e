import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { QUEUE_PREFIX } from '@countersign/events';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRedis, startRedis } from '../../config/stack/redis.mjs';
import { OtpHarness } from '../support/otp-harness.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

// With the password of Redis an attacker gives commands whose effect stays when the access has ended.

/** The rules that docker-compose.yml gives to the user of the daemons, without its password. */
const [, RULES = ''] =
  /user default on >\$\$REDIS_PASSWORD (?<rules>.+)" >/.exec(
    readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8'),
  ) ?? [];

describe.skipIf(findRedis() === undefined)('A36 a Redis with the rights of the shipped containers', () => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-redis-rights-'));
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let home: OtpHarness;
  let target: Receiver;
  let stolen: Redis;

  beforeAll(async () => {
    redis = await startRedis({ dataDir, log: () => undefined });
    stolen = new Redis(redis.url);
    await stolen.call('ACL', 'SETUSER', 'default', ...RULES.split(' '));
    home = await OtpHarness.open({ REDIS_URL: redis.url });
    target = await startReceiver();
  });
  afterAll(async () => {
    stolen.disconnect();
    await target.close();
    await home.close();
    await redis.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it.each([
    'CLIENT PAUSE 86400000 WRITE',
    'CLIENT KILL TYPE normal',
    'CONFIG SET maxmemory 1mb',
    'CONFIG REWRITE',
    'ACL SETUSER mine on nopass ~* +@all',
    'REPLICAOF 127.0.0.1 1',
    'FLUSHALL',
    'SHUTDOWN NOSAVE',
    'MONITOR',
    'SWAPDB 0 1',
    'SAVE',
    'MODULE LIST',
  ])('A36 refuses %s', async (line) => {
    const [command = '', ...values] = line.split(' ');
    await expect(stolen.call(command, ...values)).rejects.toThrow('NOPERM');
  });

  it('A36 has limits, queues and the bus with them', async () => {
    const id = await home.created({ webhookUrl: target.url });
    const answer = await home.send(id);
    expect(answer.status).toBe(200);
    expect(answer.headers['ratelimit']).toBeDefined();
    await home.harness.approve(id);
    await until('the webhook came', 10_000, () => target.received.length > 0);
    expect(target.eventIdsOf(id)).toHaveLength(1);
    expect(await stolen.keys('*').catch(String)).toContain('NOPERM');
    const [, found] = await stolen.scan(0, 'COUNT', 1_000);
    expect(found.filter((key) => key.startsWith(QUEUE_PREFIX))).not.toEqual([]);
    expect(home.harness.log.filter((line) => line.includes('NOPERM'))).toEqual([]);
  });
});
