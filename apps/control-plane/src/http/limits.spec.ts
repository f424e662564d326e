import type { ApiKeyPrincipal, KeyLimits } from '@countersign/accounts/accounts';
import { Limiter, type LimiterStore, memoryLimiterStore } from '@countersign/bus';
import { parseId } from '@countersign/ids';
import { beforeEach, describe, expect, it } from 'vitest';
import { Limits } from './limits.js';
import type { RouteAccess } from './route-access.js';

const SESSION = 'sess_00000000000000000000000000';
const OTHER = 'sess_00000000000000000000000001';
const idOf = (sessionId: string): string => parseId('sess', sessionId) ?? '';

const caller = (limits: KeyLimits = {}, keyId = 'k1'): ApiKeyPrincipal => ({
  keyId,
  kind: 'live',
  tenant: { accountId: 'a', mode: 'live' },
  scopes: ['verify'],
  limits,
});
const keyed = (more: object = {}): RouteAccess => ({ access: 'key', scope: 'verify', body: 'none', ...more });
const CREATE = keyed({ policy: 'create' });
const POLL = keyed({ policy: 'poll' });
const SEND = keyed({ withoutLimiter: 'refuse' });

const awayStore: LimiterStore = {
  add: () => Promise.reject(new Error('away')),
  close: () => Promise.resolve(),
};
const limitsOver = (store: LimiterStore): Limits =>
  new Limits(new Limiter({ store, fallback: memoryLimiterStore(), onError: () => undefined }));

let limits: Limits;
beforeEach(() => {
  limits = limitsOver(memoryLimiterStore());
});

describe('the policies of a request', () => {
  it.each([
    ['a create', CREATE, '"default";q=600;w=60, "create";q=300;w=60'],
    ['a poll', POLL, '"default";q=600;w=60, "poll";q=60;w=60'],
    ['usage', keyed({ policy: 'usage' }), '"default";q=600;w=60, "usage";q=60;w=60'],
    ['any other call', keyed(), '"default";q=600;w=60'],
    ['an unknown route', undefined, '"default";q=600;w=60'],
  ])('are those of %s', async (_what, route, text) => {
    expect((await limits.countCall(caller(), route, SESSION)).headers['ratelimit-policy']).toBe(text);
  });

  it('follow the limits of the key, each separately', async () => {
    const { headers } = await limits.countCall(caller({ create: 7 }), CREATE, undefined);
    expect(headers['ratelimit-policy']).toBe('"default";q=600;w=60, "create";q=7;w=60');
  });

  it('are one wide policy per admin key', async () => {
    const route = { access: 'admin', needs: 'accounts.list', body: 'none' } as const;
    const keys = [null, 'a', 'b'].map((keyId) => ({ kind: 'admin', keyId, name: 'n', role: 'viewer' }) as const);
    for (const left of [5_999, 5_998]) {
      for (const key of keys) {
        const { headers } = await limits.countCall(key, route, undefined);
        expect(headers['ratelimit-policy']).toBe('"default";q=6000;w=60');
        expect(headers['x-ratelimit-remaining']).toBe(String(left));
      }
    }
  });
});

describe('a quota', () => {
  const outcomes = async (times: number, count: () => ReturnType<Limits['countWrongKey']>): Promise<boolean[]> => {
    const refusals = [];
    for (let n = 0; n < times; n++) refusals.push((await count()).refusal === null);
    return refusals;
  };

  it('refuses requests beyond it, with the time to retry', async () => {
    const key = caller({ create: 2 });
    expect(await outcomes(3, () => limits.countCall(key, CREATE, undefined))).toEqual([true, true, false]);
    const { refusal, headers } = await limits.countCall(key, CREATE, undefined);
    expect(refusal).toEqual({ code: 'RATE_LIMITED', retryAfterSeconds: 60 });
    expect(headers['ratelimit']).toMatch(/^"default";r=596;t=60, "create";r=0;t=60$/);
  });

  it('of polling is per session, and shared by all malformed ids', async () => {
    const key = caller({ poll: 1 });
    const poll = (sessionId: string | undefined) => outcomes(1, () => limits.countCall(key, POLL, sessionId));
    expect(await Promise.all([SESSION, OTHER, SESSION].map(poll))).toEqual([[true], [true], [false]]);
    expect(await Promise.all(['anything', 'else', undefined].map(poll))).toEqual([[true], [false], [false]]);
  });

  it('of polling has no counter for a new session while that of the key is known to be used up', async () => {
    const keys = new Set<string>();
    const memory = memoryLimiterStore();
    const counting = limitsOver({
      add: (...count) => {
        keys.add(count[0]);
        return memory.add(...count);
      },
      close: () => memory.close(),
    });
    const key = caller({ default: 2, poll: 2 });
    const poll = async (last: number) =>
      (await counting.countCall(key, POLL, `${SESSION.slice(0, -1)}${last}`)).headers['ratelimit'];
    expect([await poll(1), await poll(1), await poll(2)]).toEqual([
      '"default";r=1;t=60, "poll";r=1;t=60',
      '"default";r=0;t=60, "poll";r=0;t=60',
      '"default";r=0;t=60, "poll";r=1;t=60',
    ]);
    for (let last = 3; last < 10; last += 1) await poll(last);
    expect(await poll(1)).toBe('"default";r=0;t=60, "poll";r=0;t=60');
    expect(keys.size).toBe(2);
  });

  it('of polling has none either while this process counts alone', async () => {
    const key = caller({ default: 2 });
    const keys = new Set<string>();
    const memory = memoryLimiterStore();
    const fallback: LimiterStore = {
      add: (...count) => {
        keys.add(count[0]);
        return memory.add(...count);
      },
      close: () => memory.close(),
    };
    const alone = new Limits(new Limiter({ store: awayStore, fallback, onError: () => undefined }));
    for (let last = 0; last < 10; last += 1) await alone.countCall(key, POLL, `${SESSION.slice(0, -1)}${last}`);
    expect(keys.size).toBe(3);
  });

  it('of a key is that of the key which made it, and of keys that members made that of the account and mode', async () => {
    const remaining = async (more: Partial<ApiKeyPrincipal>): Promise<string | undefined> =>
      (await limits.countCall({ ...caller({}, 'k9'), ...more }, CREATE, undefined)).headers['x-ratelimit-remaining'];
    expect(await remaining({ keyId: 'k1' })).toBe('299');
    expect(await remaining({ quotaId: 'k1' })).toBe('298');
    expect(await remaining({ keyId: 'k3', quotaId: 'k1' })).toBe('297');
    expect(await remaining({})).toBe('299');
    expect(await remaining({ quotaId: 'a' })).toBe('299');
    expect(await remaining({ keyId: 'k3', quotaId: 'a' })).toBe('298');
    expect(await remaining({ quotaId: 'a', kind: 'test', tenant: { accountId: 'a', mode: 'test' } })).toBe('299');
  });

  it('of one key is separate from that of another', async () => {
    const [one, other] = [caller({ default: 1 }), caller({ default: 1 }, 'k2')];
    expect(await outcomes(2, () => limits.countCall(one, keyed(), undefined))).toEqual([true, false]);
    expect(await outcomes(1, () => limits.countCall(other, keyed(), undefined))).toEqual([true]);
  });

  it('of an address counts wrong keys, 60 a minute, and reading it costs nothing', async () => {
    const wrong = (address: string) => limits.countWrongKey(address);
    await Promise.all(Array.from({ length: 60 }, () => limits.ofAddress('203.0.113.9')));
    expect(await outcomes(61, () => wrong('203.0.113.9'))).toEqual([...Array<boolean>(60).fill(true), false]);
    expect((await wrong('203.0.113.10')).refusal).toBeNull();
    expect((await limits.ofAddress('::ffff:203.0.113.9'))['ratelimit']).toMatch(/^"ip";r=0;/);
  });

  it('of changes of an account is 300 an hour and mode, also without the store', async () => {
    for (const each of [limits, limitsOver(awayStore)]) {
      const change = (mode: 'live' | 'test') => each.countChange({ accountId: 'a', mode });
      expect(await outcomes(301, () => change('live'))).toEqual([...Array<boolean>(300).fill(true), false]);
      expect((await change('live')).refusal).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 3_600 });
      expect((await change('test')).refusal).toBeNull();
    }
  });

  it('of an IPv6 address is that of its /64', async () => {
    await outcomes(60, () => limits.countWrongKey('2001:db8:1:2::1'));
    expect((await limits.countWrongKey('2001:db8:1:2:ffff::9')).refusal?.code).toBe('RATE_LIMITED');
    expect((await limits.countWrongKey('2001:db8:1:3::1')).refusal).toBeNull();
  });
});

describe('without the limiter’s store', () => {
  it('requests continue under the same quotas, counted by this process', async () => {
    const alone = limitsOver(awayStore);
    const refusals = [];
    for (let n = 0; n < 3; n++)
      refusals.push((await alone.countCall(caller({ default: 2 }), CREATE, undefined)).refusal);
    expect(refusals).toEqual([null, null, { code: 'RATE_LIMITED', retryAfterSeconds: 60 }]);
  });

  it('routes that require the limiter are refused', async () => {
    const alone = limitsOver(awayStore);
    const { refusal, headers } = await alone.countCall(caller(), SEND, SESSION);
    expect(refusal?.code).toBe('SERVICE_UNAVAILABLE');
    expect(headers['ratelimit']).toBe('"default";r=599;t=60');
    expect((await limits.countCall(caller(), SEND, SESSION)).refusal).toBeNull();
  });
});

describe('a subscribe', () => {
  const key = { ...caller({ default: 3, poll: 1 }), kind: 'key' } as const;
  const admin = { kind: 'admin', keyId: null } as const;

  it('by a key counts like a GET of that session, under the same quotas', async () => {
    expect((await limits.countSubscribe(key, idOf(SESSION))).refusal).toBeNull();
    expect((await limits.countCall(caller(key.limits), POLL, SESSION)).refusal?.code).toBe('RATE_LIMITED');
    expect((await limits.countSubscribe(key, idOf(OTHER))).refusal).toBeNull();
    const refused = await limits.countSubscribe(key, null);
    expect(refused.refusal).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) as number });
  });

  it('to a channel other than a session counts under default alone', async () => {
    const refusals = [];
    for (let n = 0; n < 4; n += 1) refusals.push((await limits.countSubscribe(key, null)).refusal?.code);
    expect(refusals).toEqual([undefined, undefined, undefined, 'RATE_LIMITED']);
  });

  it('by an admin key counts under its default', async () => {
    const { headers } = await limits.countSubscribe(admin, null);
    expect([headers['ratelimit-policy'], headers['x-ratelimit-remaining']]).toEqual(['"default";q=6000;w=60', '5999']);
  });

  it('by tickets of a session is counted for that session, and for no key', async () => {
    const ticket = (sessionId: string) => ({ kind: 'ticket', sessionId }) as const;
    const count = (sessionId: string) => limits.countSubscribe(ticket(sessionId), sessionId);
    for (let n = 0; n < 60; n += 1) expect((await count('s')).refusal).toBeNull();
    expect((await count('s')).refusal?.code).toBe('RATE_LIMITED');
    expect((await count('other')).refusal).toBeNull();
    expect((await limits.countCall(caller({ poll: 1 }), POLL, SESSION)).refusal).toBeNull();
  });
});

describe('sign-ins of the console by phone', () => {
  const begin = async (address: string): Promise<boolean> =>
    (await limits.countStart('phone', address)).refusal === null;

  it('are five of an IPv4 address, and of each /64 until those of its /48 are fifty', async () => {
    expect((await limits.countStart('phone', '198.51.100.1')).headers['ratelimit-policy']).toBe('"start";q=5;w=600');
    const { headers } = await limits.countStart('phone', '2001:db8:1:ffff::1');
    expect(headers['ratelimit-policy']).toBe('"start";q=5;w=600, "site";q=50;w=600');
    const begun: boolean[] = [];
    for (let network = 0; network < 12; network += 1)
      for (let start = 0; start < 5; start += 1) begun.push(await begin(`2001:db8:1:${network}::${start + 1}`));
    expect(begun.filter(Boolean)).toHaveLength(49);
    expect(await begin('2001:db8:2::1')).toBe(true);
    for (let start = 0; start < 4; start += 1) expect(await begin('198.51.100.1')).toBe(true);
    expect(await begin('198.51.100.1')).toBe(false);
  });
});
