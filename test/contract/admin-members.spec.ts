import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf, idOf } from '../support/admin-calls.js';
import { type Answer, ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';

const MASKED = '+141******71';
const OIDC = { issuer: 'https://id.example.com', subject: 'ann-1' };

let harness: ControlPlaneHarness;
let root: AdminCalls;
let viewer: AdminCalls;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  root = new AdminCalls(harness);
  viewer = await root.colleague('viewer');
});
afterAll(() => harness.close());
beforeEach(() => harness.database.query('DELETE FROM members'));

const made = (changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> =>
  root.post('members', { name: 'Ann Lee', role: 'viewer', ...changes });
const developer = (changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> =>
  made({ role: 'developer', accountId: harness.demo.accountId, phone: PHONE, ...changes });

/** Stores a session of the member, and returns how many there are. */
async function sessionsOf(memberId: string): Promise<() => Promise<number>> {
  const { database, clock } = harness;
  const [row] = await database.query<{ id: string }>('SELECT id FROM members WHERE name = $1', [memberId]);
  await database.query(
    `INSERT INTO console_sessions
       (id, digest, member_id, method, client_address, user_agent, created_at, last_used_at, expires_at)
     VALUES ($1::uuid, uuid_send($1::uuid), $2, 'oidc', '::1', '', now(), now(), now() + interval '1 hour')`,
    [clock.newId(), row?.id],
  );
  return async () => (await database.query('SELECT id FROM console_sessions WHERE member_id = $1', [row?.id])).length;
}

describe('a member', () => {
  it('of the installation needs a name and a role', async () => {
    const { status, json } = await made({ name: 'Zoë', role: 'operator' });
    expect(status).toBe(201);
    const { id, ...rest } = json;
    expect(id).toMatch(/^mbr_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(rest).toEqual({
      ...{ name: 'Zoë', phone: null, role: 'operator', email: null, oidc: null, lastSignInAt: null, active: true },
    });
    expect(await root.notes(id)).toMatchObject([{ actor: 'root', action: 'create', before: null, after: rest }]);
    expect((await root.get(`members/${String(id)}`)).json).toEqual(json);
  });

  it('of an account has that account and a phone', async () => {
    const { status, json } = await developer();
    expect([status, json['accountId'], json['phone'], json['role']]).toEqual([
      201,
      harness.demo.accountId,
      PHONE,
      'developer',
    ]);
    await made();
    const listed = await root.get(`members?accountId=${harness.demo.accountId}`);
    expect(dataOf(listed).map(({ id }) => id)).toEqual([json['id']]);
    expect(dataOf(await root.get('members'))).toHaveLength(2);
  });

  it.each<[string, unknown]>([
    ['name', undefined],
    ['name', 'two\nlines'],
    ['role', 'root'],
    ['role', 'developer'],
    ['phone', '4155552671'],
    ['phone', '+1415'],
    ['phone', 5],
    ['email', 'nobody'],
    ['email', '\ud800'],
    ['email', 'a\ud800@example.com'],
    ['email', `${'x'.repeat(300)}@example.com`],
    ['oidc', {}],
    ['oidc.issuer', { oidc: { issuer: 'id.example.com', subject: 'x' } }],
    ['oidc.subject', { oidc: { issuer: 'https://id.example.com', subject: '' } }],
    ['oidc.more', { oidc: { ...OIDC, more: 1 } }],
    ['accountId', null],
    ['active', 'yes'],
    ['lastSignInAt', '2026-01-01T00:00:00Z'],
  ])('with %s %j is refused', async (field, value) => {
    const changes = field.includes('.') ? (value as object) : { [field]: value };
    const answer = await made({ ...changes });
    expect([answer.status, answer.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(answer.field).toBe(field === 'oidc' ? 'oidc.issuer' : field);
  });

  it.each<[string, unknown]>([
    ['role', 'owner'],
    ['role', 'support'],
    ['phone', null],
    ['email', 'ann@example.com'],
    ['oidc', OIDC],
  ])('of an account with %s %j is refused, also by a change', async (field, value) => {
    const first = await developer({ [field]: value });
    expect([first.status, first.code, first.field]).toEqual([422, 'VALIDATION_ERROR', field]);
    const changed = await root.patch(`members/${idOf(await developer())}`, { [field]: value });
    expect([changed.status, changed.code, changed.field]).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  it('has a phone, an email and an identity of its own', async () => {
    await developer();
    expect([(await developer()).code, (await developer()).field]).toEqual(['CONFLICT', 'phone']);
    await made({ email: 'Ann@example.com', oidc: OIDC });
    expect((await made({ email: 'ann@EXAMPLE.com' })).field).toBe('email');
    expect((await made({ oidc: OIDC })).field).toBe('oidc');
    // Only members of accounts are found by their phones.
    expect((await made({ phone: PHONE })).status).toBe(201);
  });

  it.each(['acct_00000000000000000000000000', 'nonsense'])('of the account %s is refused', async (accountId) => {
    const answer = await developer({ accountId });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', 'accountId']);
  });

  it('keeps its account', async () => {
    const answer = await root.patch(`members/${idOf(await developer())}`, { accountId: harness.demo.accountId });
    expect([answer.status, answer.field]).toEqual([422, 'accountId']);
  });

  it('is in the audit log whenever a change answers with its phone, also when nothing changes', async () => {
    const body = { name: 'Ina', role: 'developer', accountId: harness.demo.accountId, phone: '+14155550144' };
    const id = idOf(await root.post('members', body));
    expect((await root.patch(`members/${id}`, { name: 'Ina' })).json['phone']).toBe(body.phone);
    expect((await root.notes(id)).map(({ action }) => action)).toEqual(['create', 'update']);
  });

  it('is changed and deleted by owners alone', async () => {
    const id = idOf(await made());
    for (const role of ['support', 'operator'] as const) {
      const own = await root.colleague(role, `${role} of members`);
      expect((await own.get(`members/${id}`)).status).toBe(200);
      expect((await own.post('members', { name: 'x', role: 'viewer' })).status).toBe(403);
      expect((await own.patch(`members/${id}`, { phone: PHONE })).status).toBe(403);
      expect((await own.delete(`members/${id}`)).status).toBe(403);
    }
    expect((await root.delete(`members/${id}`)).status).toBe(204);
    expect((await root.get(`members/${id}`)).status).toBe(404);
  });

  it('has phone, email and subject masked for a viewer, in the audit log too', async () => {
    const answer = await made({ phone: PHONE, email: 'ann@example.com', oidc: OIDC });
    const shown = { phone: MASKED, email: 'a***@example.com', oidc: { ...OIDC, subject: '***' } };
    expect((await viewer.get(`members/${idOf(answer)}`)).json).toMatchObject(shown);
    expect(dataOf(await viewer.get('members'))[0]).toMatchObject(shown);
    const [entry] = dataOf(await viewer.get('audit?resource=members&limit=1'));
    expect(entry?.['after']).toMatchObject(shown);
  });
});

describe('the sessions of a member', () => {
  it.each<[string, object]>([
    ['phone', { phone: '+14155552672' }],
    ['email', { email: 'other@example.com' }],
    ['oidc', { oidc: OIDC }],
    ['active', { active: false }],
  ])('end with a change of %s', async (_, change) => {
    const id = idOf(await made({ phone: PHONE }));
    const count = await sessionsOf('Ann Lee');
    expect((await root.patch(`members/${id}`, { phone: PHONE, name: 'Ann Lee' })).status).toBe(200);
    expect(await count()).toBe(1);
    expect((await root.patch(`members/${id}`, change)).status).toBe(200);
    expect(await count()).toBe(0);
  });

  it('end with the member', async () => {
    const id = idOf(await made());
    const count = await sessionsOf('Ann Lee');
    expect((await root.delete(`members/${id}`)).status).toBe(204);
    expect(await count()).toBe(0);
  });
});

describe('the last active owner', () => {
  const refused = async (id: string): Promise<void> => {
    for (const change of [{ role: 'viewer' }, { active: false }]) {
      const answer = await root.patch(`members/${id}`, change);
      expect([answer.status, answer.code]).toEqual([409, 'CONFLICT']);
    }
    expect((await root.delete(`members/${id}`)).code).toBe('CONFLICT');
    expect((await root.patch(`members/${id}`, { name: 'Still', phone: PHONE })).status).toBe(200);
  };

  it('is neither removed nor demoted', async () => {
    const id = idOf(await made({ role: 'owner' }));
    await refused(id);
    const idle = idOf(await made({ role: 'owner', active: false }));
    await refused(id);
    expect((await root.delete(`members/${idle}`)).status).toBe(204);
    const other = idOf(await made({ role: 'owner' }));
    expect((await root.patch(`members/${id}`, { role: 'viewer' })).status).toBe(200);
    await refused(other);
  });

  it('stays when all are demoted at once', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, async () => idOf(await made({ role: 'owner' }))));
    const answers = await Promise.all(
      ids.map((id, at) =>
        at % 2 === 0 ? root.patch(`members/${id}`, { role: 'viewer' }) : root.delete(`members/${id}`),
      ),
    );
    expect(answers.filter(({ code }) => code === 'CONFLICT')).toHaveLength(1);
    const rows = await harness.database.query("SELECT id FROM members WHERE role = 'owner' AND active");
    expect(rows).toHaveLength(1);
  });
});
