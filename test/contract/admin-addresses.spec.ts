import { createApiKey } from '@countersign/keys';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { RealtimeClient } from '../support/realtime-client.js';

let harness: ControlPlaneHarness;
let viewerKey: string;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open({ ADMIN_ALLOWED_CIDRS: '127.0.0.0/8, 203.0.113.0/24' });
  viewerKey = (await new AdminCalls(harness).colleague('viewer')).key;
});
afterAll(() => harness.close());

const rootKey = (): string => new AdminCalls(harness).key;
const ELSEWHERE = { ADMIN_ALLOWED_CIDRS: '198.51.100.0/24,2001:db8::/32' };

describe('admin keys, served directly', () => {
  it('are accepted from the addresses that are allowed', async () => {
    for (const key of [rootKey(), viewerKey]) expect((await harness.call('/v1/admin/binds', { key })).status).toBe(200);
    (await RealtimeClient.open(harness, { key: viewerKey })).close();
  });

  it('are unknown keys from any other address, on every path, and count as failed authentication', async () => {
    const { baseUrl, stop } = await harness.neighbour(ELSEWHERE);
    try {
      for (const target of ['/v1/admin/binds', '/v1/nothing', '/v1/verify']) {
        const unknown = await harness.call(target, { key: createApiKey('admin'), baseUrl });
        expect([unknown.status, unknown.code]).toEqual([401, 'UNAUTHORIZED']);
        for (const key of [rootKey(), viewerKey]) {
          const answer = await harness.call(target, { key, baseUrl });
          expect([answer.status, answer.text]).toEqual([401, unknown.text]);
          expect(answer.headers['www-authenticate']).toBe('Bearer');
          expect(answer.headers['ratelimit-policy']).toBe('"ip";q=60;w=60');
        }
      }
      const [before, after] = [
        await harness.call('/v1/admin/binds', { key: rootKey(), baseUrl }),
        await harness.call('/v1/admin/binds', { key: rootKey(), baseUrl }),
      ].map(({ headers }) => Number(headers['x-ratelimit-remaining']));
      expect(after).toBe((before ?? 0) - 1);
      for (const key of [rootKey(), viewerKey]) {
        expect(await RealtimeClient.refused(harness, { key, baseUrl })).toMatchObject({
          status: 401,
          code: 'UNAUTHORIZED',
        });
      }
      expect((await harness.call('/v1/verify/sess_00000000000000000000000000', { baseUrl })).status).toBe(404);
    } finally {
      await stop();
    }
  });
});

describe('admin keys, behind a TLS proxy', () => {
  const PROXIED = { TLS_MODE: 'proxy', TRUSTED_PROXIES: '127.0.0.0/8', PUBLIC_BASE_URL: 'https://verify.example' };

  it('are judged by the rightmost address that is not a trusted proxy', async () => {
    const { baseUrl, stop } = await harness.neighbour({ ...ELSEWHERE, ...PROXIED });
    const ask = async (forwardedFor: string): Promise<number> => {
      const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': forwardedFor };
      const url = `${baseUrl.replace('https:', 'http:')}/v1/admin/binds`;
      return (await fetch(url, { headers: { ...headers, authorization: `Bearer ${viewerKey}` } })).status;
    };
    try {
      expect(await ask('198.51.100.7')).toBe(200);
      expect(await ask('2001:db8::1')).toBe(200);
      expect(await ask('203.0.113.9, 198.51.100.7, 127.0.0.9')).toBe(200);
      expect(await ask('198.51.100.7, 203.0.113.9')).toBe(401);
      expect(await ask('203.0.113.9')).toBe(401);
      expect(await ask('')).toBe(401);
    } finally {
      await stop();
    }
  });
});
