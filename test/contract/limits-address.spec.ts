import { randomInt } from 'node:crypto';
import { createApiKey } from '@countersign/keys';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open({ TLS_MODE: 'proxy', TRUSTED_PROXIES: '127.0.0.0/8' });
});
afterAll(() => harness.close());

const SESSION = '/v1/verify/sess_00000000000000000000000000';
/** A Redis that outlives this run still has the clients of the last one. */
const run = randomInt(100, 255);
const WRONG_KEYS_A_MINUTE = 60;

interface Seen {
  readonly status: number;
  readonly code: string | undefined;
  readonly headers: Headers;
  readonly remaining: number;
}

interface Ask {
  readonly from: string;
  readonly key?: string | null;
  readonly target?: string;
  readonly protocol?: string;
}

/** A request as the TLS proxy forwards it, from any client. */
async function ask({ from, key = null, target = SESSION, protocol = 'https' }: Ask): Promise<Seen> {
  const response = await fetch(`http://127.0.0.1:${harness.environment['CONTROL_PLANE_PORT'] ?? ''}${target}`, {
    headers: {
      'x-forwarded-proto': protocol,
      'x-forwarded-for': from,
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  const remaining = /r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1];
  return { status: response.status, code: error?.code, headers: response.headers, remaining: Number(remaining) };
}

const useUp = async (from: string): Promise<void> => {
  await Promise.all(Array.from({ length: WRONG_KEYS_A_MINUTE }, () => ask({ from })));
};

describe('the policy ip', () => {
  it('counts failed authentication, 60 a minute, and then answers 429 instead of 401', async () => {
    const from = `203.0.${run}.1`;
    const statuses = [];
    for (let n = 0; n < WRONG_KEYS_A_MINUTE; n++) {
      const answer = await ask({ from, key: n % 2 === 0 ? null : createApiKey('live') });
      statuses.push(answer.status);
      expect(answer.headers.get('ratelimit-policy')).toBe('"ip";q=60;w=60');
      expect(answer.remaining).toBe(WRONG_KEYS_A_MINUTE - 1 - n);
    }
    expect(new Set(statuses)).toEqual(new Set([401]));
    const refused = await ask({ from, key: 'nonsense' });
    expect([refused.status, refused.code, refused.remaining]).toEqual([429, 'RATE_LIMITED', 0]);
    const untilReset = Number(/t=(\d+)/.exec(refused.headers.get('ratelimit') ?? '')?.[1]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(untilReset);
  });

  it('never refuses a valid key, which goes on from an address whose quota is used up', async () => {
    const from = `203.0.${run}.2`;
    await useUp(from);
    expect((await ask({ from })).status).toBe(429);
    const answer = await ask({ from, key: harness.demo.apiKey });
    expect([answer.status, answer.code]).toEqual([404, 'SESSION_NOT_FOUND']);
    expect(answer.headers.get('ratelimit-policy')).toMatch(/^"default";/);
  });

  it('is each address’s own, a /64 of IPv6 being one', async () => {
    await useUp(`203.0.${run}.3`);
    expect((await ask({ from: `203.0.${run}.4` })).status).toBe(401);
    await useUp(`2001:db8:${run}:1::1`);
    expect((await ask({ from: `2001:db8:${run}:1::ffff` })).status).toBe(429);
    expect((await ask({ from: `2001:db8:${run}:2::1` })).status).toBe(401);
  });

  it('is shown, and not counted, where no key was asked for or seen', async () => {
    const from = `203.0.${run}.5`;
    for (const target of ['/elsewhere', '/docs/errors/NO_SUCH_CODE']) {
      const { status, code, remaining } = await ask({ from, target });
      expect([status, code, remaining]).toEqual([404, 'NOT_FOUND', 60]);
    }
    // The headers of a plain HTTP request about its origin are ignored: the peer's quota is shown.
    const plain = await ask({ from, protocol: 'http' });
    expect([plain.status, plain.code, plain.headers.get('ratelimit-policy')]).toEqual([
      403,
      'HTTPS_REQUIRED',
      '"ip";q=60;w=60',
    ]);
    expect((await ask({ from })).remaining).toBe(59);
    expect((await ask({ from, target: '/elsewhere' })).remaining).toBe(59);
  });

  it('trusts the proxy alone about the client address', async () => {
    const from = `203.0.${run}.6`;
    await useUp(from);
    expect((await ask({ from: `198.51.100.1, ${from}` })).status).toBe(429);
    expect((await ask({ from: `${from}, 198.51.100.1` })).status).toBe(401);
  });
});
