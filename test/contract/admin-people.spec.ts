import { ADMIN_ROLES, type AdminRole } from '@countersign/accounts/admin-keys';
import { CarrierStore } from '@countersign/carriers/config';
import { MessageStore } from '@countersign/carriers/inbound';
import { OutboundStore } from '@countersign/carriers/outbound';
import { newId, parseId, renderId, type Uuid } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf } from '../support/admin-calls.js';
import { type Answer, ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';

const MASKED = '+141******71';
const EMAIL = 'ann@people.example';
const MO_TEXT = 'AUTH-ACME-7Q2M9XK4T1V8C3ZB my code is 654321';
const CODE = '012345';

let harness: ControlPlaneHarness;
let root: AdminCalls;
const byRole = new Map<AdminRole, AdminCalls>();
let bindId: Uuid;
let sessionId: string;
let moId: string;
let mtId: string;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  root = new AdminCalls(harness);
  for (const role of ADMIN_ROLES) byRole.set(role, await root.colleague(role));
  const carriers = new CarrierStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const hosts = [{ host: '127.0.0.1', port: 1 }];
  const bind = { name: 'north', carrier: 'north', hosts, systemId: 'x', password: 'x', enabled: false };
  ({ id: bindId } = await carriers.createBind(harness.database, bind));
  sessionId = String((await harness.create({ metadata: { email: EMAIL } })).json['id']);
  [moId, mtId] = [await received(), await sent()];
  await harness.approve(sessionId);
});
afterAll(() => harness.close());

const as = (role: AdminRole): AdminCalls => byRole.get(role) ?? root;
const account = (): Uuid => parseId('acct', harness.demo.accountId) ?? '';

async function received(): Promise<string> {
  const id = newId(Math.floor(harness.clock.nowMs()));
  const textSealed = harness.keys.seal('message-text', MO_TEXT, id);
  const addresses = { source: PHONE.slice(1), sourceTon: 1, sourceNpi: 1, destination: '60606' };
  const about = { id, carrier: 'north', linkId: bindId, dataCoding: 0, part: null, fate: 'matched' } as const;
  const of = { sessionId: parseId('sess', sessionId), accountId: account() };
  await new MessageStore().insertInbound(harness.database, [{ ...about, ...addresses, ...of, textSealed }]);
  return renderId('msg', id);
}

async function sent(): Promise<string> {
  const id = newId(Math.floor(harness.clock.nowMs()));
  await new OutboundStore().insert(harness.database, {
    id,
    sessionId: parseId('sess', sessionId) ?? '',
    accountId: account(),
    test: false,
    destination: PHONE,
    country: 'US',
    sender: 'ACME',
    textSealed: harness.keys.seal('message-text', `${CODE} is your Acme code.\n@acme.example #${CODE}`, id),
    createdAt: new Date(harness.clock.nowMs()),
    expiresAt: new Date(harness.clock.nowMs() + 60_000),
  });
  return renderId('msg', id);
}

describe('an owner', () => {
  it('leaves an entry of each read of admin keys, which have phones', async () => {
    const { json } = await root.post('admin-keys', { name: 'with a phone', role: 'viewer', phone: '+14155552804' });
    const id = String(json['id']);
    expect((await root.get(`admin-keys/${id}`)).json['phone']).toBe('+14155552804');
    const page = await root.get('admin-keys?limit=1');
    expect((await root.notes(id)).map(({ action }) => action)).toEqual(['create', 'read']);
    const entries = (await root.notes('list')).filter(({ requestId }) => requestId === page.headers['x-request-id']);
    expect(entries).toMatchObject([{ resource: 'admin-keys', after: { count: 1, newest: id } }]);
  });
});

const paths = (): string[] => ['sessions', `sessions/${sessionId}`, 'messages', `messages/${moId}`, `messages/${mtId}`];

describe('a viewer', () => {
  it('sees sessions and messages without personal data', async () => {
    for (const path of [...paths(), `sessions?id=${sessionId}`, `messages?sessionId=${sessionId}`]) {
      const answer = await as('viewer').get(path);
      expect(answer.status).toBe(200);
      for (const person of [PHONE, PHONE.slice(1), EMAIL]) expect(answer.text).not.toContain(person);
    }
    const session = (await as('viewer').get(`sessions/${sessionId}`)).json;
    expect(session).toMatchObject({ id: sessionId, status: 'approved', phone: MASKED, metadata: {} });
    expect((await as('viewer').get(`messages/${moId}`)).json).toMatchObject({
      source: '141******71',
      destination: '60606',
    });
    expect((await as('viewer').get(`messages/${mtId}`)).json).toMatchObject({ source: 'ACME', destination: MASKED });
  });

  it.each([`phone=%2B14155552671`, 'phone=+14155552671', 'phone=', 'ph%6Fne=%2B14155552671', 'phone=x&phone=y'])(
    'may not search by phone: %s',
    async (query) => {
      for (const list of ['sessions', 'messages']) {
        const answer = await as('viewer').get(`${list}?limit=5&${query}`);
        expect([answer.status, answer.code]).toEqual([403, 'FORBIDDEN']);
      }
    },
  );

  it('reads no text', async () => {
    for (const id of [moId, mtId]) expect((await as('viewer').post(`messages/${id}/reveal`)).code).toBe('FORBIDDEN');
  });

  it('sees the audit log without people', async () => {
    await as('support').post(`messages/${moId}/reveal`);
    await as('support').get('sessions?phone=%2B14155552671');
    await root.post('destinations', { prefix: PHONE, action: 'block', reason: `asked by ${PHONE}` });
    const seen = await as('viewer').get('audit?limit=100');
    expect(seen.status).toBe(200);
    for (const person of [PHONE, PHONE.slice(1)]) {
      expect(seen.text).not.toContain(person);
      expect((await root.get('audit?limit=100')).text).toContain(person);
    }
    expect((await as('viewer').get('destinations')).text).not.toContain(PHONE);
    expect(dataOf(await root.get('destinations'))[0]).toMatchObject({ prefix: PHONE });
  });

  it('sees webhook URLs, and URLs in texts and in the audit log, without tokens', async () => {
    const token = 'f00dfeedc0de';
    const urls = {
      defaultWebhookUrl: `https://acme.example/hooks?token=${token}&v=1`,
      testWebhookUrl: `https://staging.acme.example/hooks?${token}`,
    };
    const { json } = await root.post('accounts', { name: 'With tokens', ...urls });
    const path = `accounts/${String(json['id'])}`;
    const reason = `see https://tickets.example/4711?key=${token}, called from ${PHONE}`;
    await root.post('destinations', { prefix: '+4479', action: 'block', reason });
    for (const read of [path, 'accounts', 'destinations', 'audit?limit=100']) {
      const seen = await as('viewer').get(read);
      expect([seen.status, seen.text.includes(token), seen.text.includes(PHONE)], read).toEqual([200, false, false]);
      for (const role of ['support', 'owner'] as const) expect((await as(role).get(read)).text, read).toContain(token);
    }
    expect((await as('viewer').get(path)).json).toMatchObject({
      defaultWebhookUrl: 'https://acme.example/hooks?token=***&v=***',
      testWebhookUrl: 'https://staging.acme.example/hooks?***',
    });
    expect((await as('support').get(path)).json).toMatchObject(urls);
  });

  it('sees the prefix of a route that is a whole phone number masked', async () => {
    const draft = { prefix: PHONE, bindId: renderId('bind', bindId) };
    const { json } = await root.post('routes', draft);
    const short = await root.post('routes', { ...draft, prefix: '+1415' });
    const path = `routes/${String(json['id'])}`;
    expect((await as('viewer').get(path)).json).toEqual({ ...json, prefix: MASKED });
    const list = await as('viewer').get('routes');
    expect([list.text.includes(PHONE), list.text.includes(MASKED)]).toEqual([false, true]);
    expect((await as('viewer').get(`routes/${String(short.json['id'])}`)).json).toEqual(short.json);
    for (const role of ['support', 'operator', 'owner'] as const) {
      expect((await as(role).get(path)).json).toMatchObject({ prefix: PHONE });
    }
    expect((await as('viewer').get('audit?resource=routes')).text).not.toContain(PHONE);
  });

  it('sees the reason why a default webhook URL was disabled without phones and tokens', async () => {
    const { id } = (await root.post('accounts', { name: 'Disabled' })).json;
    const reason = `410 from https://acme.example/hooks?token=f00dfeed, told ${PHONE}`;
    await harness.database.query(
      `UPDATE accounts SET default_webhook_disabled_at = now(), default_webhook_disabled_reason = $2 WHERE id = $1`,
      [parseId('acct', String(id)), reason],
    );
    expect((await as('viewer').get(`accounts/${String(id)}`)).json).toMatchObject({
      defaultWebhookDisabledReason: `410 from https://acme.example/hooks?token=*** told ${MASKED}`,
    });
    expect((await as('support').get(`accounts/${String(id)}`)).json).toMatchObject({
      defaultWebhookDisabledReason: reason,
    });
  });

  it('leaves no entry for reads', async () => {
    const before = await root.log();
    for (const path of [...paths(), 'members']) await as('viewer').get(path);
    expect(await root.log()).toBe(before);
  });
});

describe.each(['support', 'operator', 'owner'] as const)('%s', (role) => {
  it('sees people, and searches for them', async () => {
    const session = (await as(role).get(`sessions/${sessionId}`)).json;
    expect(session).toMatchObject({ phone: PHONE, metadata: { email: EMAIL } });
    expect((await as(role).get(`messages/${moId}`)).json).toMatchObject({ source: PHONE.slice(1) });
    for (const list of ['sessions', 'messages']) {
      expect(dataOf(await as(role).get(`${list}?phone=%2B14155552671`)).length).toBeGreaterThan(0);
    }
  });

  it('sees neither fallbackUri nor authEntropy', async () => {
    for (const path of paths()) {
      const { text } = await as(role).get(path);
      for (const secret of ['fallbackUri', 'authEntropy', CODE]) expect(text).not.toContain(secret);
    }
  });

  it('leaves an entry of each read, with the phone masked', async () => {
    const page = await as(role).get(`sessions?phone=%2B14155552671&limit=1`);
    const one = await as(role).get(`messages/${mtId}`);
    const entryOf = async ({ headers }: Answer): Promise<unknown> => {
      const rows = await harness.database.query(
        'SELECT actor, action, resource, resource_id AS id, before, after FROM audit_entries WHERE request_id = $1',
        [headers['x-request-id']],
      );
      expect(rows).toHaveLength(1);
      return rows[0];
    };
    const about = { actor: role, action: 'read', before: null };
    const after = { filter: { phone: MASKED }, count: 1, newest: sessionId, oldest: sessionId };
    expect(await entryOf(page)).toEqual({ ...about, resource: 'sessions', id: 'list', after });
    expect(await entryOf(one)).toEqual({ ...about, resource: 'messages', id: mtId, after: null });
  });

  it('leaves an entry of each read of members, whose phones it sees', async () => {
    const { accountId } = harness.demo;
    const phone = { support: '+14155552801', operator: '+14155552802', owner: '+14155552803' }[role];
    const member = await root.post('members', { name: `Seen by ${role}`, role: 'viewer', accountId, phone });
    const id = String(member.json['id']);
    const page = await as(role).get(`members?accountId=${accountId}&limit=1`);
    expect([dataOf(page)[0]?.['phone'], (await as(role).get(`members/${id}`)).json['phone']]).toEqual([phone, phone]);
    const read = { actor: role, action: 'read', resource: 'members', before: null };
    expect((await root.notes(id)).slice(1)).toEqual([
      { ...read, after: null, requestId: expect.any(String) as string },
    ]);
    const entries = (await root.notes('list')).filter(({ requestId }) => requestId === page.headers['x-request-id']);
    const after = { filter: { accountId }, count: 1, newest: id, oldest: id };
    expect(entries).toMatchObject([{ ...read, after }]);
  });

  it('reads texts, with an entry of each, and the digits of codes as an owner alone', async () => {
    const [mo, mt] = [await as(role).post(`messages/${moId}/reveal`), await as(role).post(`messages/${mtId}/reveal`)];
    expect([mo.status, mt.status]).toEqual([202, 202]);
    const isOwner = role === 'owner';
    expect(mo.json['text']).toBe(isOwner ? MO_TEXT : MO_TEXT.replace('654321', '******'));
    const shown = isOwner ? CODE : '******';
    expect(mt.json['text']).toBe(`${shown} is your Acme code.\n@acme.example #${shown}`);
    const entries = (await root.notes(mtId)).filter(({ action, actor }) => action === 'reveal' && actor === role);
    expect(entries.map(({ requestId }) => requestId)).toEqual([mt.headers['x-request-id']]);
  });
});

describe('a read that finds nothing', () => {
  it('by a list is an entry, of one thing is none', async () => {
    await as('support').get('messages?phone=%2B442071838750&direction=in');
    const [last] = dataOf(await root.get('audit?resource=messages&resourceId=list&limit=1'));
    const filter = { phone: '+442*******50', direction: 'in' };
    expect(last).toMatchObject({ actor: 'support', after: { filter, count: 0, newest: null, oldest: null } });
    const before = await root.log();
    expect((await as('support').get('sessions/sess_00000000000000000000000000')).status).toBe(404);
    expect(await root.log()).toBe(before);
  });
});

describe('while the database is unreachable', () => {
  it('the answer with people in it is not given', async () => {
    await harness.line.cut();
    try {
      expect((await root.get(`sessions/${sessionId}`)).status).toBe(503);
    } finally {
      await harness.line.mend();
    }
  });
});
