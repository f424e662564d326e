import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Metrics, OpsServer, type Check } from './index.js';

const open: OpsServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function start(checks: Record<string, Check>): Promise<{ server: OpsServer; url: string; metrics: Metrics }> {
  const metrics = new Metrics({ app: 'test', processMetrics: false });
  const server = new OpsServer({ host: '127.0.0.1', port: 0, metrics, checks });
  open.push(server);
  return { server, metrics, url: `http://127.0.0.1:${await server.listen()}` };
}

describe('the operations port', () => {
  it('/healthz answers while the event loop runs, whatever the checks return', async () => {
    const { url } = await start({ database: () => Promise.reject(new Error('away')) });
    const answer = await fetch(`${url}/healthz`);
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }]);
  });

  it.each(['/healthz', '/readyz', '/metrics', '/elsewhere', '/%zz'])(
    '%s forbids content type sniffing',
    async (path) => {
      const { url } = await start({ database: () => Promise.reject(new Error('away')) });
      expect((await fetch(`${url}${path}`)).headers.get('x-content-type-options')).toBe('nosniff');
    },
  );

  it('/readyz is 200 while every check passes', async () => {
    const { url } = await start({ database: () => Promise.resolve(), clock: () => undefined });
    const answer = await fetch(`${url}/readyz`);
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { status: 'ready', checks: { database: { ok: true }, clock: { ok: true } } },
    ]);
  });

  it('/readyz is 503 and names the failing check, without its secrets', async () => {
    const { url } = await start({
      database: () => Promise.reject(new Error('connect postgres://app:hunter2@db/x')),
      redis: () => undefined,
    });
    const answer = await fetch(`${url}/readyz`);
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      {
        status: 'not_ready',
        checks: { database: { ok: false, error: 'connect postgres://[redacted]@db/x' }, redis: { ok: true } },
      },
    ]);
  });

  it('/readyz answers within its deadline when a check never ends', async () => {
    const { url } = await start({ database: () => new Promise<void>(() => undefined) });
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3000) });
    expect(await answer.json()).toMatchObject({
      checks: { database: { ok: false, error: 'not done within 1000 ms' } },
    });
  });

  it('runs its checks once for concurrent requests', async () => {
    let calls = 0;
    let answer: () => void = () => undefined;
    const { url } = await start({
      database: () => {
        calls += 1;
        return new Promise<void>((resolve) => (answer = resolve));
      },
    });
    const first = fetch(`${url}/readyz`);
    while (calls === 0) await new Promise((resolve) => setImmediate(resolve));
    const second = fetch(`${url}/readyz`);
    await fetch(`${url}/healthz`);
    answer();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    expect(calls).toBe(1);
  });

  it('a draining process is not ready, but alive', async () => {
    const { server, url } = await start({});
    server.drain();
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it('/metrics shows counters, gauges with a reader, and histograms', async () => {
    const { metrics, url } = await start({});
    metrics.counter({ name: 'mo_total', help: 'MOs', labels: ['fate'] }).inc({ fate: 'matched' }, 2);
    metrics.gauge({ name: 'queued', help: 'Queued', read: () => 7 });
    const readAll = () => [{ labels: { bind: 'north' }, value: 2 }];
    metrics.gauge({ name: 'links', help: 'Links', labels: ['bind'], readAll });
    metrics.gauge({ name: 'broken', help: 'Broken', read: () => Promise.reject(new Error('away')) });
    metrics.histogram({ name: 'answer_seconds', help: 'Answer' }).observe(0.003);
    const answer = await fetch(`${url}/metrics`);
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toContain('text/plain');
    expect(text).toContain('countersign_mo_total{fate="matched",app="test"} 2');
    expect(text).toContain('countersign_queued{app="test"} 7');
    expect(text).toContain('countersign_links{bind="north",app="test"} 2');
    expect(text).toContain('countersign_answer_seconds_bucket{le="0.005",app="test"} 1');
  });

  it('a port in use is an error that says so', async () => {
    const { url, metrics } = await start({});
    const second = new OpsServer({ host: '127.0.0.1', port: Number(new URL(url).port), metrics, checks: {} });
    await expect(second.listen()).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('process metrics', () => {
  it("include Node's own", async () => {
    expect((await new Metrics({ app: 'test' }).render()).text).toContain('nodejs_eventloop_lag_p99_seconds');
  });
});

describe('connections that stall', () => {
  it('never block a probe', async () => {
    const { url } = await start({});
    const { hostname, port } = new URL(url);
    const stalled: Socket[] = [];
    for (let nth = 0; nth < 200; nth += 1) {
      const socket = connect(Number(port), hostname);
      stalled.push(socket.on('error', () => undefined));
      await once(socket, 'connect');
      socket.write('GET /healthz HTTP/1.1\r\nx: ');
    }
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    for (const socket of stalled) socket.destroy();
  });

  it('are closed after five seconds', async () => {
    const { url } = await start({});
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    socket.write('GET /healthz HTTP/1.1\r\nx: ');
    socket.resume();
    await once(socket, 'close');
  }, 10_000);
});
