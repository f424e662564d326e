import { createHash, randomUUID } from 'node:crypto';
import type { Uuid } from '@countersign/ids';
import { DatabaseUnavailable } from '@countersign/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refuse, succeed, type Outcome } from '../../apps/control-plane/src/http/errors.js';
import { IdempotencyQuota } from '../../apps/control-plane/src/idempotency/idempotency-quota.js';
import { IdempotencyService } from '../../apps/control-plane/src/idempotency/idempotency.service.js';
import { COUNT_SAMPLE } from '../../apps/control-plane/src/idempotency/idempotency.sql.js';
import {
  IdempotencyStore,
  type Claim,
  type ClaimResult,
  type DigestedRequest,
} from '../../apps/control-plane/src/idempotency/idempotency.store.js';
import type {
  IdempotentCall,
  RepeatableRequest,
} from '../../apps/control-plane/src/idempotency/idempotent-call.decorator.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

let harness: SessionHarness;
/** The stores of two processes. */
let store: IdempotencyStore;
let other: IdempotencyStore;
let service: IdempotencyService;
const failures: unknown[] = [];

beforeAll(async () => {
  harness = await openSessionHarness();
  store = storeOf();
  other = storeOf();
  service = serviceOf(quotaOf(1_000_000));
});
afterAll(async () => {
  await Promise.all([store.drain(), other.drain()]);
  await harness.close();
  expect(failures).toEqual([]);
});
beforeEach(() => harness.database.query('DELETE FROM idempotency_keys'));

/** A quota without a cached count. */
const quotaOf = (idempotencyKeysPerAccount: number, versions = 1): IdempotencyQuota =>
  new IdempotencyQuota(
    harness.database,
    { versions: Array.from({ length: versions }, (_, at) => at + 1) },
    { idempotencyKeysPerAccount },
  );

const storeOf = (): IdempotencyStore =>
  new IdempotencyStore(harness.database, harness.clock, harness.keys, { batchMaxCommands: 64 });

const serviceOf = (quota: IdempotencyQuota): IdempotencyService =>
  new IdempotencyService(store, quota, harness.clock, harness.keys, {
    about: () => (error) => void failures.push(error),
  });

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

const requestOf = (key: string, body = ''): DigestedRequest => ({
  accountId: harness.account.id,
  test: false,
  digests: [{ version: 1, digest: sha256(key), fingerprint: sha256(body) }],
});

async function claimed(result: Promise<ClaimResult>): Promise<Claim> {
  const claim = await result;
  if (claim.kind !== 'claimed') throw new Error(`not claimed: ${claim.kind}`);
  return claim.claim;
}

const expireLeases = (): Promise<unknown> =>
  harness.database.query("UPDATE idempotency_keys SET claimed_until = clock_timestamp() - interval '1 second'");

const countKeys = async (): Promise<number> => {
  const [row] = await harness.database.query<{ count: number }>('SELECT count(*)::int AS count FROM idempotency_keys');
  return row?.count ?? 0;
};

describe('a claim', () => {
  it('has one owner when many requests claim the key concurrently', async () => {
    const request = requestOf('one');
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? store : other).claim(request)),
    );
    expect(results.map(({ kind }) => kind).sort()).toEqual(['claimed', ...Array<string>(49).fill('running')]);
  });

  it('has one owner per key, without a deadlock, when two processes claim many keys in opposite orders', async () => {
    const requests = Array.from({ length: 200 }, (_, at) => requestOf(`key ${at}`));
    const results = await Promise.all([
      ...requests.map((request) => store.claim(request)),
      ...requests.toReversed().map((request) => other.claim(request)),
    ]);
    const claims = results.flatMap((result) => (result.kind === 'claimed' ? [result.claim] : []));
    expect(new Set(claims.flatMap(({ digests }) => digests.map(({ digest }) => digest.toString('hex')))).size).toBe(
      200,
    );
    expect(claims).toHaveLength(200);
    await Promise.all(
      claims.map((claim, at) => (at % 2 === 0 ? store : other).storeAnswer(claim, { status: 200, body: `${at}` })),
    );
    const again = await Promise.all(requests.map((request) => other.claim(request)));
    expect(again.every(({ kind }) => kind === 'answered')).toBe(true);
  });

  it('passes to the next attempt with its resource id when the lease is over; later writes of the first attempt are ignored', async () => {
    const request = requestOf('lease');
    const first = await claimed(store.claim(request));
    expect((await other.claim(request)).kind).toBe('running');
    await expireLeases();
    const second = await claimed(other.claim(request));
    expect([second.resourceId, second.resumed]).toEqual([first.resourceId, true]);
    await store.storeAnswer(first, { status: 200, body: 'late' });
    await store.releaseRefused(first);
    expect((await store.claim(request)).kind).toBe('running');
    await other.storeAnswer(second, { status: 200, body: 'in time' });
    expect(await store.claim(request)).toEqual({ kind: 'answered', answer: { status: 200, body: 'in time' } });
  });

  it('with another body is refused while the first request runs and after its answer, else it gets a new resource id', async () => {
    const first = await claimed(store.claim(requestOf('body', 'a')));
    expect((await other.claim(requestOf('body', 'b'))).kind).toBe('reused');
    await store.releaseFailed(first);
    const second = await claimed(other.claim(requestOf('body', 'b')));
    expect(second.resourceId).not.toBe(first.resourceId);
    await other.storeAnswer(second, { status: 200, body: '{}' });
    expect((await store.claim(requestOf('body', 'a'))).kind).toBe('reused');
  });
});

/** 10 keys of the sample, which contains 1 in 64. */
const QUOTA = 640;

describe('the keys of an account', () => {
  const request = (key: string, bodyDigest = sha256('')): RepeatableRequest => {
    return { tenant: liveTenant(harness.account.id), method: 'POST', path: '/x', key, bodyDigest };
  };
  const run = (under: IdempotencyService, call: RepeatableRequest, body: string): Promise<Outcome<string>> =>
    under.run({ request: call, markReplayed: () => undefined }, () => Promise.resolve(succeed(body)));
  /** The same request with a digest that begins with this octet. The sample contains digests with 0 to 3. */
  const withFirstOctet = (octet: number, request: DigestedRequest): DigestedRequest => {
    const digests = request.digests.map((each) => {
      return { ...each, digest: Buffer.concat([Buffer.from([octet]), each.digest.subarray(1)]) };
    });
    return { ...request, digests };
  };
  const fill = async (keys: number, test = false): Promise<void> => {
    const requests = Array.from({ length: keys }, (_, at) => withFirstOctet(at % 4, requestOf(`fill ${at}`)));
    await Promise.all(requests.map((each) => store.claim({ ...each, test })));
  };
  const isFull = (test = false, accountId: Uuid = harness.account.id): Promise<boolean> =>
    quotaOf(QUOTA).isFull(accountId, test);

  it('reach the quota with exactly that many keys', async () => {
    await fill(9);
    expect(await isFull()).toBe(false);
    await claimed(store.claim(withFirstOctet(3, requestOf('tenth'))));
    expect(await isFull()).toBe(true);
  });

  it('are counted by the sample only', async () => {
    await Promise.all(Array.from({ length: 100 }, (_, at) => store.claim(withFirstOctet(4, requestOf(`${at}`)))));
    expect([await countKeys(), await isFull()]).toEqual([100, false]);
  });

  it('are counted separately for each account and mode', async () => {
    await fill(10, true);
    expect([await isFull(true), await isFull(false), await isFull(true, harness.brand.id)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('count for a day, also when they are not purged yet', async () => {
    await fill(10);
    await harness.database.query(`UPDATE idempotency_keys SET created_at = created_at - interval '24 hours'`);
    expect(await isFull()).toBe(false);
  });

  it('are counted with the index of the sample', async () => {
    const counted = [`'${harness.account.id}'`, 'false', '24', '10'];
    const statement = COUNT_SAMPLE.replace(/\$([1-4])/g, (_, at: string) => counted[Number(at) - 1] ?? '');
    const plan = await harness.database.transaction(async (tx) => {
      // With few keys a sequential scan costs the same.
      await tx.query('SET LOCAL enable_seqscan = off', []);
      return tx.query<Record<'QUERY PLAN', string>>(`EXPLAIN ${statement}`, []);
    });
    expect(plan.map((row) => row['QUERY PLAN']).join(' ')).toContain('idempotency_keys_sample');
  });

  it('refuse a new key when the quota is reached, while known keys are handled as before', async () => {
    await run(service, request('answered'), 'first');
    await service.run({ request: request('refused'), markReplayed: () => undefined }, () =>
      Promise.resolve(refuse('INVALID_BRAND')),
    );
    await fill(10);
    const full = serviceOf(quotaOf(QUOTA));
    const before = await countKeys();
    const outcomes = await Promise.all([
      run(full, request('new'), 'second'),
      run(full, request('answered'), 'second'),
      run(full, request('answered', sha256('another body')), 'second'),
      run(full, request('refused'), 'second'),
    ]);
    expect(outcomes.map((outcome) => (outcome.ok ? outcome.value : outcome.refusal.code))).toEqual([
      'RATE_LIMITED',
      'first',
      'IDEMPOTENCY_KEY_REUSED',
      'RATE_LIMITED',
    ]);
    expect(outcomes[0]).toMatchObject({ refusal: { retryAfterSeconds: 60 } });
    expect(await countKeys()).toBe(before);
  });
});

describe('keys that are older than a day', () => {
  it('are deleted, a limited number at a time', async () => {
    const claims = await Promise.all(
      Array.from({ length: 5 }, (_, at) => claimed(store.claim(requestOf(`old ${at}`)))),
    );
    await Promise.all(claims.map((claim) => store.storeAnswer(claim, { status: 200, body: '{}' })));
    await harness.database.query(`UPDATE idempotency_keys SET created_at = created_at - interval '24 hours'`);
    await claimed(store.claim(requestOf('new')));
    expect([await store.purge(3), await other.purge(3), await store.purge(3)]).toEqual([3, 2, 0]);
    expect(await countKeys()).toBe(1);
  });
});

describe('the work of a request with a key', () => {
  const call = (key: string): IdempotentCall => ({
    request: {
      tenant: liveTenant(harness.account.id),
      method: 'POST',
      path: '/v1/verify {}',
      key,
      bodyDigest: sha256('body'),
    },
    markReplayed: () => undefined,
  });

  it('can run again at once with the same resource id after a failure or a 503', async () => {
    const key = randomUUID();
    const ids: Uuid[] = [];
    const away = new DatabaseUnavailable('away');
    const failing = service.run(call(key), (id) => {
      ids.push(id);
      return Promise.reject(away);
    });
    await expect(failing).rejects.toBe(away);
    const noRoute = await service.run(call(key), (id) => {
      ids.push(id);
      return Promise.resolve(refuse('SERVICE_UNAVAILABLE'));
    });
    expect(noRoute.ok).toBe(false);
    const done = await service.run(call(key), (id) => {
      ids.push(id);
      return Promise.resolve(succeed('{"done":true}'));
    });
    expect([done, new Set(ids).size, ids.length]).toEqual([succeed('{"done":true}'), 1, 3]);
    expect(await service.run(call(key), () => Promise.reject(new Error('must not run again')))).toEqual(done);
  });

  it('leaves no key when it is refused', async () => {
    const refused = await service.run(call(randomUUID()), () => Promise.resolve(refuse('INVALID_BRAND')));
    expect([refused.ok, await countKeys()]).toEqual([false, 0]);
  });

  it('keeps the resource id when a repeated attempt is refused, because the first may have created the resource', async () => {
    const key = randomUUID();
    const ids: Uuid[] = [];
    const attempt = (outcome: Outcome<string> | Error): Promise<Outcome<string>> =>
      service.run(call(key), (id) => {
        ids.push(id);
        return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
      });
    await expect(attempt(new Error('broken'))).rejects.toThrow('broken');
    await attempt(refuse('INVALID_BRAND'));
    await attempt(succeed('{}'));
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(1);
  });
});
