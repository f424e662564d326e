import { KeyUse } from '@countersign/accounts/keys';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness();
});
afterAll(() => harness.close());

const newKey = async (): Promise<Uuid> => {
  const { id } = await harness.accounts.createApiKey(harness.database, {
    accountId: harness.account.id,
    kind: 'live',
    name: 'used',
  });
  return id;
};
const lastUse = async (id: Uuid): Promise<Date | null> => {
  const [row] = await harness.database.query<{ at: Date | null }>(
    'SELECT last_used_at AS at FROM api_keys WHERE id = $1',
    [id],
  );
  return row?.at ?? null;
};
const HOUR_MS = 3_600_000;
const fail = (error: unknown): never => {
  throw new Error('a write of KeyUse failed', { cause: error });
};

describe('the time of the last use of a key', () => {
  it('is written periodically, with one statement for all used keys', async () => {
    const [one, other, unused] = await Promise.all([newKey(), newKey(), newKey()]);
    let statements = 0;
    const database: Executor = {
      query: <Row extends object>(text: string, values?: readonly unknown[]) => {
        statements++;
        return harness.database.query<Row>(text, values);
      },
    };
    const use = new KeyUse({ database, onError: fail, flushEveryMs: 20 });
    for (let n = 0; n < 100; n++) {
      use.recordUse(one);
      use.recordUse(other);
    }
    await expect.poll(() => lastUse(other)).not.toBeNull();
    await use.stop();
    expect([await lastUse(one), await lastUse(unused)]).toEqual([expect.any(Date), null]);
    expect(statements).toBe(1);
  });

  it('is written on stop, without waiting for a key that another transaction has locked', async () => {
    const [free, changing] = await Promise.all([newKey(), newKey()]);
    const use = new KeyUse({ database: harness.database, onError: fail, flushEveryMs: HOUR_MS });
    use.recordUse(free);
    use.recordUse(changing);
    await harness.database.transaction(async (tx) => {
      await tx.query('SELECT id FROM api_keys WHERE id = $1 FOR UPDATE', [changing]);
      await use.stop();
    });
    expect(await lastUse(free)).not.toBeNull();
    expect(await lastUse(changing)).toBeNull();
  });

  it('is written with the next flush after a failed one', async () => {
    const key = await newKey();
    const errors: unknown[] = [];
    let broken = true;
    const database: Executor = {
      query: <Row extends object>(text: string, values?: readonly unknown[]) =>
        broken ? Promise.reject(new Error('away')) : harness.database.query<Row>(text, values),
    };
    const use = new KeyUse({ database, onError: (error) => errors.push(error), flushEveryMs: 20 });
    use.recordUse(key);
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    broken = false;
    await expect.poll(() => lastUse(key)).not.toBeNull();
    await use.stop();
  });
});
