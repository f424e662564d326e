import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { PENDING } from '../test/answers.js';
import { API_KEY, closeServers, ok, refused, serverWith, textOf } from '../test/scripted-server.js';
import { CountersignClient } from './client.js';
import { ConnectionError, ServiceError, TimeoutError } from './errors.js';

afterEach(closeServers);

describe('time', () => {
  it('limits the whole call, including waits', async () => {
    const { client, seen } = await serverWith([refused(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '3' })]);
    await expect(client.find(PENDING.id, { timeoutMs: 2_000 })).rejects.toThrow(ServiceError);
    expect(seen).toHaveLength(1);
  });

  it('of an attempt is limited by that of the call', async () => {
    const { client } = await serverWith(['silence']);
    await expect(client.find(PENDING.id, { timeoutMs: 100 })).rejects.toThrow(TimeoutError);
  });

  it('applies to an answer that begins and does not end', async () => {
    const { client } = await serverWith([{ status: 200, body: '{', headers: { 'content-length': '1000' } }], {
      maxRetries: 0,
    });
    await expect(client.find(PENDING.id, { timeoutMs: 200 })).rejects.toThrow(TimeoutError);
  });

  it('ends with the caller’s signal: before the call, during it, and during a wait', async () => {
    const { client, seen } = await serverWith(['silence']);
    await expect(client.find(PENDING.id, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
    expect(seen).toHaveLength(0);

    const during = new AbortController();
    const silent = await serverWith(['silence'], {}, () => during.abort(new Error('during')));
    await expect(silent.client.find(PENDING.id, { signal: during.signal })).rejects.toThrow('during');

    const waiting = new AbortController();
    const limited = await serverWith([refused(429, 'RATE_LIMITED', { 'retry-after': '5' })], {
      fetch: async (url, request) => {
        const answer = await textOf(await fetch(url, request));
        setImmediate(() => waiting.abort(new Error('waiting')));
        return answer;
      },
    });
    await expect(limited.client.find(PENDING.id, { signal: waiting.signal })).rejects.toThrow('waiting');
    expect(limited.seen).toHaveLength(1);
  });
});

describe('the key', () => {
  it('is not shown in logs', async () => {
    const { client } = await serverWith(['break'], { maxRetries: 0 });
    const error: unknown = await client.find(PENDING.id).catch((thrown: unknown) => thrown);
    for (const text of [
      inspect(client, { depth: 9, showHidden: true }),
      JSON.stringify(client),
      inspect(error, { depth: 9 }),
    ]) {
      expect(text).not.toContain(API_KEY);
    }
  });

  it('is never sent to the target of a redirect', async () => {
    const target = await serverWith([ok(PENDING)]);
    const moved = { status: 307, headers: { location: target.baseUrl } };
    const { client, seen } = await serverWith([moved], { maxRetries: 0 });
    await expect(client.find(PENDING.id)).rejects.toThrow(ConnectionError);
    expect(seen).toHaveLength(1);
    expect(target.seen).toHaveLength(0);
  });

  it.each([
    'http://verify.example.com',
    'ftp://localhost',
    'https://user:pass@localhost',
    'https://localhost?x=1',
    'localhost:8443',
    '',
  ])('is not sent to %j', (baseUrl) => {
    expect(() => new CountersignClient({ baseUrl, apiKey: API_KEY })).toThrow(TypeError);
  });

  it.each(['', 'csk_admin_abc', 'Bearer csk_live_abc', 'csk_live_abc\n'])('is valid: %j is rejected', (apiKey) => {
    expect(() => new CountersignClient({ baseUrl: 'https://localhost:8443', apiKey })).toThrow(TypeError);
  });
});
