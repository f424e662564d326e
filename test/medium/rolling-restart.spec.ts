import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

const WITHIN_MS = 20_000;

let harness: ControlPlaneHarness;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open({ SHUTDOWN_DELAY_SECONDS: '3' });
});
afterAll(() => harness.close());

const isReady = async (): Promise<boolean> => {
  const { statusCode, body } = await request(`${harness.opsUrl}/readyz`);
  await body.dump();
  return statusCode === 200;
};

it('a control plane that stops is unready first and serves on, each response closing its connection', async () => {
  const open = new Agent({ connect: { rejectUnauthorized: false }, pipelining: 1 });
  expect((await harness.create({}, { dispatcher: open })).headers['connection']).toBe('keep-alive');
  const stopped = harness.stop();
  await until('it is not ready', WITHIN_MS, async () => !(await isReady()));
  const answers = [
    await harness.create({}, { dispatcher: open }),
    await harness.create({}, { dispatcher: new Agent({ connect: { rejectUnauthorized: false } }) }),
  ];
  expect(answers.map(({ status, headers }) => [status, headers['connection']])).toEqual([
    [200, 'close'],
    [200, 'close'],
  ]);
  await stopped;
  await expect(request(`${harness.opsUrl}/readyz`)).rejects.toThrow();
  await open.close();
  await harness.start();
});

it('control planes that restart one after the other fail no call of a client that follows /readyz', async () => {
  const neighbour = await harness.neighbour();
  let restarted = false;
  const outcomes = new Map<string, number>();
  const restart = (async () => {
    await harness.stop();
    await harness.start();
    await neighbour.stop();
    restarted = true;
  })();
  const caller = async (): Promise<void> => {
    while (!restarted) {
      const { status } = await callOne(neighbour.baseUrl);
      outcomes.set(String(status), (outcomes.get(String(status)) ?? 0) + 1);
    }
  };
  await Promise.all([restart, ...Array.from({ length: 4 }, caller)]);
  expect([...outcomes.keys()]).toEqual(['200']);
});

/** As a load balancer: to the first that is ready, and to the other one when a connection is refused. */
async function callOne(other: string): Promise<{ status: number }> {
  const first = await isReady().catch(() => false);
  try {
    return await harness.create({}, { baseUrl: first ? harness.baseUrl : other });
  } catch (error) {
    if (!isRefused(error)) throw error;
    return harness.create({}, { baseUrl: first ? other : harness.baseUrl });
  }
}

const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
