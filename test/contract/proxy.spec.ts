import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open({
    TLS_MODE: 'proxy',
    TRUSTED_PROXIES: '127.0.0.0/8',
    PUBLIC_BASE_URL: 'https://verify.example',
  });
});
afterAll(() => harness.close());

const SESSION = '/v1/verify/sess_00000000000000000000000000';

/** A request as the TLS proxy forwards it. */
const viaProxy = (target: string, headers: Record<string, string>): Promise<Response> =>
  fetch(`http://127.0.0.1:${harness.environment['CONTROL_PLANE_PORT'] ?? ''}${target}`, {
    redirect: 'manual',
    headers: { authorization: `Bearer ${harness.demo.apiKey}`, ...headers },
  });

describe('behind a TLS proxy', () => {
  it('a request that came over https is answered', async () => {
    const answer = await viaProxy(SESSION, { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' });
    expect([answer.status, answer.headers.get('x-request-id')?.slice(0, 4)]).toEqual([404, 'req_']);
    expect(await answer.text()).toContain('"docUrl":"https://verify.example/docs/errors/SESSION_NOT_FOUND"');
  });

  it.each([{}, { 'x-forwarded-proto': 'http' }, { 'x-forwarded-proto': 'https, http' }])(
    'a request that came as plain HTTP (%j) is refused, never redirected, before its key is looked at',
    async (headers) => {
      for (const target of [SESSION, '/docs', '/elsewhere']) {
        for (const key of [{}, { authorization: 'Bearer nonsense' }]) {
          const answer = await viaProxy(target, { ...headers, ...key });
          expect([answer.status, answer.headers.get('location')]).toEqual([403, null]);
          expect(await answer.json()).toMatchObject({ error: { code: 'HTTPS_REQUIRED' } });
        }
      }
    },
  );
});

describe('a request that bypassed the proxy', () => {
  it('is refused, whatever its headers say', async () => {
    await harness.stop();
    const other = { ...harness.environment, TRUSTED_PROXIES: '10.0.0.0/8' };
    await harness.start(other);
    const answer = await viaProxy(SESSION, { 'x-forwarded-proto': 'https', 'x-forwarded-for': '10.0.0.1' });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: { code: 'HTTPS_REQUIRED' } });
  });
});
