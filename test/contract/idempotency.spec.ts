import { randomUUID } from 'node:crypto';
import { AccountStore } from '@countersign/accounts/accounts';
import { newId, parseId } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness, PHONE, type Answer } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

let harness: ControlPlaneHarness;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
});
afterAll(() => harness.close());

/** A create with a key, a new one unless given. */
const create = (key: string, changes: Readonly<Record<string, unknown>> = {}, call = {}): Promise<Answer> =>
  harness.create(changes, { headers: { 'idempotency-key': key }, ...call });

const replayed = (answer: Answer): string | string[] | undefined => answer.headers['idempotent-replayed'];

/** The number of sessions that `work` created. */
async function made(work: () => Promise<unknown>): Promise<number> {
  const before = await harness.countSessions();
  await work();
  return (await harness.countSessions()) - before;
}

/** Puts the only key into a state that it would reach by itself a moment or a day later. */
const change = (assignments: string): Promise<unknown> =>
  harness.database.query(`UPDATE idempotency_keys SET ${assignments}`);

afterEach(() => harness.database.query('DELETE FROM idempotency_keys'));

describe('a create with an Idempotency-Key', () => {
  it('is answered again as it was, status and body, with Idempotent-Replayed, and makes no second session', async () => {
    const key = randomUUID();
    const answers: Answer[] = [];
    expect(await made(async () => void answers.push(await create(key), await create(key), await create(key)))).toBe(1);
    const [first, ...more] = answers;
    expect([first?.status, first === undefined ? null : replayed(first)]).toEqual([200, undefined]);
    for (const again of more) {
      expect([again.status, again.text, replayed(again)]).toEqual([200, first?.text, 'true']);
      expect(again.headers['content-type']).toBe(first?.headers['content-type']);
    }
  });

  it('is answered as it was also when the session has ended since', async () => {
    const key = randomUUID();
    const first = await create(key);
    await harness.approve(String(first.json['id']), { notify: false });
    const again = await create(key);
    expect([again.text, again.json['status']]).toEqual([first.text, 'pending']);
  });

  it('sent 50 times at once makes one session; each answer is that one or IDEMPOTENCY_IN_PROGRESS', async () => {
    const key = randomUUID();
    const answers: Answer[] = [];
    const storm = async (): Promise<void> =>
      void answers.push(...(await Promise.all(Array.from({ length: 50 }, () => create(key)))));
    expect(await made(storm)).toBe(1);
    const done = answers.filter(({ status }) => status === 200);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    expect(done.filter((answer) => replayed(answer) === undefined)).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expect(answer.code).toBe('IDEMPOTENCY_IN_PROGRESS');
    expect((await create(key)).text).toBe(done[0]?.text);
  });

  it('sent 50 times at once to two control planes makes one session', async () => {
    const other = await harness.neighbour();
    try {
      const key = randomUUID();
      const answers: Answer[] = [];
      const storm = async (): Promise<void> => {
        const calls = Array.from({ length: 50 }, (_, at) =>
          create(key, {}, at % 2 === 0 ? {} : { baseUrl: other.baseUrl }),
        );
        answers.push(...(await Promise.all(calls)));
      };
      expect(await made(storm)).toBe(1);
      const bodies = answers.filter(({ status }) => status === 200).map(({ text }) => text);
      expect(new Set(bodies).size).toBe(1);
      expect(
        answers.filter(({ status }) => status !== 200).every(({ code }) => code === 'IDEMPOTENCY_IN_PROGRESS'),
      ).toBe(true);
    } finally {
      await other.stop();
    }
  });

  it('with another body is refused with IDEMPOTENCY_KEY_REUSED, white space included', async () => {
    const key = randomUUID();
    const work = async (): Promise<void> => {
      await create(key);
      const other = await create(key, { ttl: 60 });
      expect([other.status, other.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
      const spaced = await create(key, {}, { body: `${JSON.stringify(harness.createBody())} ` });
      expect(spaced.code).toBe('IDEMPOTENCY_KEY_REUSED');
    };
    expect(await made(work)).toBe(1);
  });

  it('that was refused does not use up the key', async () => {
    const key = randomUUID();
    expect((await create(key, { brandId: 'brd_00000000000000000000000000' })).code).toBe('INVALID_BRAND');
    expect((await create(key, { ttl: 1 })).code).toBe('VALIDATION_ERROR');
    const answer = await create(key);
    expect([answer.status, replayed(answer)]).toEqual([200, undefined]);
  });

  it('is another one for another account, and for a test key', async () => {
    const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
    const [row] = await harness.database.query<{ id: string }>('SELECT account_id AS id FROM brands LIMIT 1');
    const test = await accounts.createApiKey(harness.database, { accountId: row?.id ?? '', kind: 'test', name: 't' });
    const key = randomUUID();
    const live = await create(key);
    const tested = await create(key, {}, { key: test.key });
    expect([tested.status, replayed(tested)]).toEqual([200, undefined]);
    expect(tested.json['id']).not.toBe(live.json['id']);
  });

  it('has the same key bare and in quotes', async () => {
    const key = randomUUID();
    const first = await create(key);
    expect((await create(`"${key}"`)).text).toBe(first.text);
  });

  it.each([
    ['empty', ''],
    ['an empty string', '""'],
    ['too long', 'k'.repeat(256)],
    ['not ASCII', 'cl\u00e9'],
  ])('that is %s is refused', async (_, key) => {
    const work = async (): Promise<void> => {
      const answer = await create(key);
      expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', 'Idempotency-Key']);
    };
    expect(await made(work)).toBe(0);
  });

  it('of 255 characters is taken', async () => {
    expect((await create('~'.repeat(255))).status).toBe(200);
  });

  it('is forgotten after 24 hours', async () => {
    const key = randomUUID();
    const first = await create(key);
    await change(`created_at = created_at - interval '23 hours 59 minutes'`);
    expect(replayed(await create(key))).toBe('true');
    await change(`created_at = created_at - interval '1 minute'`);
    const later = await create(key, { ttl: 60 });
    expect([later.status, replayed(later)]).toEqual([200, undefined]);
    expect(later.json['id']).not.toBe(first.json['id']);
  });
});

describe('an attempt that was cut short', () => {
  const CRASHED = `status = NULL, body_sealed = NULL, claimed_by = '${newId(0)}'`;

  it('is in progress while its lease runs, and refused with another body', async () => {
    const key = randomUUID();
    await create(key);
    await change(`${CRASHED}, claimed_until = clock_timestamp() + interval '30 seconds'`);
    const again = await create(key);
    expect([again.status, again.code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
    expect((await create(key, { ttl: 60 })).code).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  it('between the session and its record is taken up with the same session', async () => {
    const key = randomUUID();
    const first = await create(key);
    await change(`${CRASHED}, claimed_until = clock_timestamp() - interval '1 second'`);
    // The session keeps its copy: the brand may be edited between the attempts.
    await harness.database.query(`UPDATE brands SET instruction = 'Another line.'`);
    try {
      await until('the edited brand is seen', 5_000, async () =>
        (await harness.create()).text.includes('Another%20line'),
      );
      expect(await made(async () => expect((await create(key)).text).toBe(first.text))).toBe(0);
    } finally {
      await harness.database.query(`UPDATE brands SET instruction = 'Send this message to sign in to Acme.'`);
    }
    expect(replayed(await create(key))).toBe('true');
  });

  it('leaves the key free for another body once its lease is over', async () => {
    const key = randomUUID();
    const first = await create(key);
    await change(`${CRASHED}, claimed_until = clock_timestamp() - interval '1 second'`);
    const other = await create(key, { ttl: 60 });
    expect([other.status, replayed(other)]).toEqual([200, undefined]);
    expect(other.json['id']).not.toBe(first.json['id']);
  });

  it('longer ago than any session lives is begun anew', async () => {
    const key = randomUUID();
    await create(key);
    await change(`${CRASHED}, claimed_until = NULL, resource_id = '${newId(harness.clock.nowMs() - 301_000)}'`);
    expect(await made(() => create(key))).toBe(1);
  });

  it('by a database that was away makes one session in the end', async () => {
    const key = randomUUID();
    const work = async (): Promise<void> => {
      await harness.line.cut();
      try {
        expect((await create(key)).status).toBe(503);
      } finally {
        await harness.line.mend();
      }
      await until('the database is reachable again', 10_000, async () => (await create(key)).status === 200);
      expect(replayed(await create(key))).toBe('true');
    };
    expect(await made(work)).toBe(1);
  });
});

describe('200 creates while the database is lost and found three times', () => {
  it('make one session for each key in the end, and the answer of each names it', async () => {
    const keys = Array.from({ length: 200 }, () => randomUUID());
    const answers = new Map<string, string>();
    const tryOnce = async (key: string): Promise<void> => {
      const answer = await create(key);
      if (answer.status === 200) answers.set(key, answer.text);
      else expect(['SERVICE_UNAVAILABLE', 'IDEMPOTENCY_IN_PROGRESS']).toContain(answer.code);
    };
    const missing = (): string[] => keys.filter((key) => !answers.has(key));
    const work = async (): Promise<void> => {
      for (let round = 0; round < 3; round += 1) {
        const storm = missing().map(tryOnce);
        // As soon as the first are answered, at any stage of the others.
        await Promise.race(storm);
        await harness.line.cut();
        await Promise.all(storm);
        await harness.line.mend();
      }
      await until('every key has its answer', 20_000, async () => {
        // The remaining half minute of a lease.
        await change(`claimed_until = clock_timestamp() WHERE claimed_until IS NOT NULL`);
        await Promise.all(missing().map(tryOnce));
        return missing().length === 0;
      });
    };
    expect(await made(work)).toBe(200);
    // The first answer may be computed again, where its record was lost; then every one is replayed.
    for (const expected of [[undefined, 'true'], ['true']]) {
      const again = await Promise.all(keys.map((key) => create(key)));
      expect(again.map(({ text }) => text)).toEqual(keys.map((key) => answers.get(key)));
      expect(again.every((answer) => expected.some((each) => each === replayed(answer)))).toBe(true);
    }
  });
});

describe('an account with as many keys as its operator allows', () => {
  it('is refused a new one with the reason, and is answered for known ones and without a key', async () => {
    const key = randomUUID();
    const first = await create(key);
    // 1 in 64 is counted.
    await harness.database.query(
      `INSERT INTO idempotency_keys (digest, account_id, fingerprint, resource_id, created_at)
        SELECT set_byte(sha256(n::text::bytea), 0, 3), $1, '', gen_random_uuid(), clock_timestamp()
        FROM generate_series(1, $2) AS n`,
      [parseId('acct', harness.demo.accountId), Math.ceil(10_000 / 64)],
    );
    const { baseUrl, stop } = await harness.neighbour({ IDEMPOTENCY_KEYS_PER_ACCOUNT: '10000' });
    try {
      const refused = await create(randomUUID(), {}, { baseUrl });
      expect([refused.status, refused.code, refused.headers['retry-after']]).toEqual([429, 'RATE_LIMITED', '60']);
      expect(refused.text).toContain('has reached its quota of Idempotency-Keys');
      const again = await create(key, {}, { baseUrl });
      expect([again.status, again.text, replayed(again)]).toEqual([200, first.text, 'true']);
      expect((await harness.create({}, { baseUrl })).status).toBe(200);
      const withTestKey = { baseUrl, key: harness.demo.testApiKey };
      expect((await create(randomUUID(), {}, withTestKey)).status).toBe(200);
    } finally {
      await stop();
    }
  });
});

describe('the stored record of a request', () => {
  it('shows neither key nor phone nor token', async () => {
    const key = `order-${randomUUID()}`;
    const { json } = await create(key);
    const [, token = 'none'] = /(AUTH-[A-Z0-9]+-[A-Z0-9]+)/.exec(String(json['fallbackUri'])) ?? [];
    expect(token).toMatch(/^AUTH-/);
    const [row] = await harness.database.query<{ text: string }>('SELECT k::text AS text FROM idempotency_keys AS k');
    for (const secret of [key, PHONE, token]) {
      expect(row?.text).not.toContain(secret);
      expect(row?.text).not.toContain(Buffer.from(secret).toString('hex'));
    }
    expect(harness.log.join('')).not.toContain(key);
  });
});

describe('the description of the API', () => {
  it('names the header on the two calls that take it, and the headers of its answers', async () => {
    const { json } = await harness.call('/v1/openapi.json', { key: null });
    const paths = json['paths'] as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    const taking = Object.entries(paths).flatMap(([path, calls]) =>
      Object.entries(calls).flatMap(([method, call]) =>
        JSON.stringify(call).includes('"Idempotency-Key"') ? [`${method} ${path}`] : [],
      ),
    );
    expect(taking.sort()).toEqual(['post /v1/verify', 'post /v1/verify/{sessionId}/send-sms']);
    expect(JSON.stringify(paths['/v1/verify']?.['post'])).toContain('Idempotent-Replayed');
  });
});

describe('a call that needs no key', () => {
  it('goes by its own rules: a session is fetched and cancelled as often as asked', async () => {
    const { json } = await harness.create();
    const headers = { 'idempotency-key': randomUUID() };
    const path = `/v1/verify/${String(json['id'])}`;
    for (const method of ['GET', 'DELETE', 'DELETE'] as const) {
      const answer = await harness.call(path, { method, headers });
      expect([answer.status, replayed(answer)]).toEqual([method === 'GET' ? 200 : 204, undefined]);
    }
  });
});
