import { ACCOUNTS } from '@countersign/accounts/records';
import { AUDIT_ENTRIES, AuditStore, type NewAuditEntry } from '@countersign/events';
import type { Executor } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminService } from '../../apps/control-plane/src/admin/crud/admin.service.js';
import { refuse, succeed } from '../../apps/control-plane/src/http/errors.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';

let harness: SessionHarness;
let audit: AuditStore;

beforeAll(async () => {
  harness = await openSessionHarness();
  audit = new AuditStore(harness.clock);
});
afterAll(() => harness.close());

const ENTRY: NewAuditEntry = {
  actor: 'admin',
  action: 'update',
  resource: 'accounts',
  resourceId: 'acct_1',
  before: { name: 'a', '10': 1, '2': 2 },
  after: null,
  requestId: 'req_1',
};

const entries = async () => (await AUDIT_ENTRIES.list(harness.database, { limit: 100, startingAfter: null })).rows;

const RESOURCE = {
  name: 'accounts',
  noun: 'account',
  idPrefix: 'acct',
  table: ACCOUNTS,
  view: ({ name }: { readonly name: string }) => ({ name }),
  refusals: { accounts_pkey: { code: 'CONFLICT', message: 'twice' } },
} as const;
const BY = { actor: 'root', role: 'owner', requestId: 'req_2' } as const;

describe('an audit entry', () => {
  it('is stamped by the database, to the millisecond, and comes back as it was written', async () => {
    await harness.database.transaction((tx) => audit.append(tx, ENTRY));
    const [entry] = await entries();
    expect(entry).toMatchObject({ ...ENTRY, before: JSON.stringify(ENTRY.before), after: null });
    expect(Math.abs((entry?.at.getTime() ?? 0) - harness.clock.nowMs())).toBeLessThan(60_000);
  });

  it('is not there when its change is not', async () => {
    const before = await entries();
    const failed = harness.database.transaction(async (tx) => {
      await audit.append(tx, ENTRY);
      throw new Error('the change fails');
    });
    await expect(failed).rejects.toThrow('the change fails');
    expect(await entries()).toEqual(before);
  });
});

describe('a change by an engineer', () => {
  const make = (tx: Executor, name: string) => harness.accounts.createAccount(tx, { name });

  it('is not there when its entry is not', async () => {
    const broken = new AdminService(harness.database, new AuditStore({ newId: () => 'no id' }), {
      hold: () => Promise.resolve(null),
    });
    const failed = broken.create(RESOURCE, BY, async (tx) => succeed({ row: (await make(tx, 'unseen')).account }));
    await expect(failed).rejects.toThrow();
    const rows = await harness.database.query(`SELECT 1 FROM accounts WHERE name = 'unseen'`);
    expect(rows).toEqual([]);
  });

  it('that is refused, or breaks a constraint, leaves no entry', async () => {
    const admin = new AdminService(harness.database, audit, { hold: () => Promise.resolve(null) });
    const before = await entries();
    const twice = await admin.create(RESOURCE, BY, async (tx) => {
      const { account } = await make(tx, 'twice');
      await tx.query('INSERT INTO accounts SELECT * FROM accounts WHERE id = $1', [account.id]);
      return succeed({ row: account });
    });
    expect(twice).toEqual({ ok: false, refusal: { code: 'CONFLICT', message: 'twice' } });
    const refused = await admin.create(RESOURCE, BY, () => Promise.resolve(refuse('CONFLICT')));
    expect(refused).toEqual({ ok: false, refusal: { code: 'CONFLICT' } });
    expect(await entries()).toEqual(before);
  });

  it('throws on a constraint that means nothing to the caller', async () => {
    const admin = new AdminService(harness.database, audit, { hold: () => Promise.resolve(null) });
    const failed = admin.create({ ...RESOURCE, refusals: {} }, BY, async (tx) => {
      const { account } = await make(tx, 'thrown');
      await tx.query('INSERT INTO accounts SELECT * FROM accounts WHERE id = $1', [account.id]);
      return succeed({ row: account });
    });
    await expect(failed).rejects.toMatchObject({ constraint: 'accounts_pkey' });
  });
});
