import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import type { Executor } from '@countersign/postgres';
import { createRequestIds } from '@countersign/telemetry';
import { afterEach, describe, expect, it } from 'vitest';
import type { AnsweredRequest } from './answered-request.js';
import { RequestRecorder } from './request.recorder.js';

const accountId = '018f0000-0000-7000-8000-000000000001';
const CALLER: ApiKeyPrincipal = {
  ...{ keyId: '018f0000-0000-7000-8000-000000000002', kind: 'live', scopes: [], limits: {} },
  tenant: { accountId, mode: 'live' },
};
const keyIdOf = (n: number): string => `018f0000-0000-7000-8000-00000000010${String(n)}`;
/** A caller with another key of the account. */
const withKey = (n: number, more: Partial<ApiKeyPrincipal> = {}) => ({
  ...call,
  caller: { ...CALLER, keyId: keyIdOf(n), ...more },
});
const newId = createRequestIds();
const answer = (status: number, route = '/v1/verify'): AnsweredRequest => ({
  ...{ id: newId(), method: 'GET', route, status, mode: 'live', elapsedMs: 1.6 },
});
const call = { caller: CALLER, target: '/v1/verify?phone=%2B14155552671', code: null };

/** Keeps the values of each write. */
class RecordingDatabase implements Executor {
  readonly writes: (readonly unknown[])[] = [];
  query<Row>(_text: string, values: readonly unknown[] = []): Promise<Row[]> {
    this.writes.push(values);
    return Promise.resolve([]);
  }
}

let recorder: RequestRecorder | undefined;
function recorderOver(database: Executor): RequestRecorder {
  recorder = new RequestRecorder(database, { about: () => () => undefined });
  return recorder;
}
afterEach(() => recorder?.stop());

describe('the request recorder', () => {
  it('records every error, and one of a hundred others', async () => {
    const database = new RecordingDatabase();
    const requests = recorderOver(database);
    for (const status of [400, 404, 503]) requests.record(answer(status), call, { random: () => 0.99 });
    for (const random of [0, 0.0099, 0.01, 0.5]) requests.record(answer(200), call, { random: () => random });
    await requests.flush();
    expect(database.writes).toHaveLength(1);
    expect(database.writes[0]?.[7]).toEqual([400, 404, 503, 200, 200]);
    expect(database.writes[0]?.[6]).toEqual(Array.from({ length: 5 }, () => '/v1/verify?phone=+141******71'));
    expect(database.writes[0]?.[9]).toEqual([2, 2, 2, 2, 2]);
  });

  it('writes nothing when nothing was recorded', async () => {
    const database = new RecordingDatabase();
    await recorderOver(database).flush();
    expect(database.writes).toEqual([]);
  });

  it('keeps at most 200 of an account and mode, so that one account displaces no other', async () => {
    const database = new RecordingDatabase();
    const requests = recorderOver(database);
    for (let at = 0; at < 1_000; at += 1) requests.record(answer(404), withKey(at % 3));
    const tenant = { accountId, mode: 'test' } as const;
    requests.record(answer(404), { ...call, caller: { ...CALLER, kind: 'test', tenant } });
    await requests.flush();
    expect((database.writes[0]?.[0] as unknown[]).length).toBe(201);
    requests.record(answer(404), call);
    await requests.flush();
    expect((database.writes[1]?.[0] as unknown[]).length).toBe(1);
  });

  it('keeps one refusal with 429 a minute of each key and route, whatever their number', async () => {
    const database = new RecordingDatabase();
    const requests = recorderOver(database);
    let now = Date.UTC(2026, 0, 31);
    const nowMs = (): number => now;
    for (let at = 0; at < 1_000; at += 1) {
      requests.record(answer(429), call, { nowMs });
      if (at % 100 === 0) await requests.flush();
      now += 50;
    }
    const otherKey = { ...call, caller: { ...CALLER, keyId: '018f0000-0000-7000-8000-000000000003' } };
    requests.record(answer(429), otherKey, { nowMs });
    requests.record(answer(429, '/v1/usage'), call, { nowMs });
    requests.record(answer(404), call, { nowMs });
    now += 60_000;
    requests.record(answer(429), call, { nowMs });
    await requests.flush();
    expect(database.writes.map((values) => values[7])).toEqual([[429], [429, 429, 404, 429]]);
  });

  it('keeps at most 600 a minute of an account and mode', async () => {
    const database = new RecordingDatabase();
    const requests = recorderOver(database);
    const tenant = { accountId, mode: 'test' } as const;
    const kept = async (fromMs: number): Promise<number> => {
      const before = database.writes.length;
      for (let second = 0; second < 10; second += 1) {
        for (let at = 0; at < 150; at += 1)
          requests.record(answer(404), withKey(at % 3), { nowMs: () => fromMs + second * 1_000 });
        await requests.flush();
      }
      return database.writes.slice(before).reduce((sum, values) => sum + (values[0] as unknown[]).length, 0);
    };
    const start = Date.UTC(2026, 0, 31);
    expect(await kept(start)).toBe(600);
    requests.record(answer(404), { ...call, caller: { ...CALLER, kind: 'test', tenant } }, { nowMs: () => start });
    await requests.flush();
    expect(database.writes.at(-1)?.[2]).toEqual([true]);
    expect(await kept(start + 60_000)).toBe(600);
  });

  it('keeps of one key, with those that use its quota, at most half of what it keeps of the account and mode', async () => {
    const database = new RecordingDatabase();
    const requests = recorderOver(database);
    const nowMs = (): number => Date.UTC(2026, 0, 31);
    const kept = async (record: () => void): Promise<number> => {
      const before = database.writes.length;
      for (let write = 0; write < 10; write += 1) {
        for (let at = 0; at < 150; at += 1) record();
        await requests.flush();
      }
      return database.writes.slice(before).reduce((sum, values) => sum + (values[0] as unknown[]).length, 0);
    };
    let made = 0;
    const quotaId = keyIdOf(0);
    expect(await kept(() => requests.record(answer(404), withKey(made++ % 9, { quotaId }), { nowMs }))).toBe(300);
    expect(await kept(() => requests.record(answer(404), withKey(0), { nowMs }))).toBe(0);
    expect(await kept(() => requests.record(answer(404), call, { nowMs }))).toBe(300);
    expect(database.writes.slice(0, 3).map((values) => (values[0] as unknown[]).length)).toEqual([100, 100, 100]);
  });

  it('loses what cannot be written, and goes on', async () => {
    const database = new RecordingDatabase();
    const away: Executor = { query: () => Promise.reject(new Error('away')) };
    const requests = recorderOver({
      query: (text, values) => (database.writes.length === 0 ? away : database).query(text, values),
    });
    requests.record(answer(404), call);
    await expect(requests.flush()).rejects.toThrow('away');
    database.writes.push([]);
    requests.record(answer(500), call);
    await requests.flush();
    expect(database.writes.at(-1)?.[7]).toEqual([500]);
  });
});
