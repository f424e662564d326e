import { ADMIN_ROLES, type AdminRole } from '@countersign/accounts/admin-keys';
import { parseId } from '@countersign/ids';
import type { OpenAPIObject } from '@nestjs/swagger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRUST_POLICY } from '../../apps/control-plane/src/admin/crud/trust.js';
import { operationsOf, type Operation } from '../../apps/control-plane/src/docs/openapi/operations.js';
import { ADMIN_POLICY } from '../../apps/control-plane/src/http/admin-policy.js';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { type Answer, ControlPlaneHarness } from '../support/control-plane-harness.js';

// Opened outside a hook, because the tests are generated from the calls in the API description.
const harness = await ControlPlaneHarness.open();
afterAll(() => harness.close());

const root = new AdminCalls(harness);
const byRole = new Map<AdminRole, AdminCalls>();
for (const role of ADMIN_ROLES) byRole.set(role, await root.colleague(role));

const keyOf = (role: AdminRole): string => byRole.get(role)?.key ?? '';
const { text } = await harness.call('/v1/openapi.json', { key: null });
const document = JSON.parse(text) as OpenAPIObject;
const calls = operationsOf(document).filter(({ path }) => path.startsWith('/v1/admin/'));

/** The roles as the contract has them, independent of ADMIN_POLICY. */
const OPERATED = ['binds', 'smpp-systems', 'inbound-numbers', 'routes', 'destinations', 'queues', 'deliveries'];
const OWNED = ['accounts', 'brands', 'keys', 'members', 'prices'];

function contractSays({ method, path }: Operation): readonly AdminRole[] {
  const resource = path.split('/')[3] ?? '';
  if (resource === 'admin-keys') return ['owner'];
  if (method === 'GET') return ['viewer', 'support', 'operator', 'owner'];
  if (path === '/v1/admin/routes/resolve') return ['support', 'operator', 'owner'];
  if (path.endsWith('/messages/{id}/reveal')) return ['support', 'operator', 'owner'];
  if (OPERATED.includes(resource)) return ['operator', 'owner'];
  if (OWNED.includes(resource)) return ['owner'];
  throw new Error(`the contract has no sentence for ${method} ${path}`);
}

/** Permissions of calls whose names do not follow from their paths. */
const SPELLED: Readonly<Record<string, keyof typeof ADMIN_POLICY>> = {
  'GET /v1/admin/destinations/refusals': 'destinations.list-refusals',
  'GET /v1/admin/destinations/budgets': 'destinations.list-budgets',
  'GET /v1/admin/binds/{id}/history': 'binds.get-history',
  'POST /v1/admin/binds/{id}/test-messages': 'binds.send-test',
  'GET /v1/admin/binds/{id}/trace': 'binds.get-trace',
  'POST /v1/admin/binds/{id}/trace': 'binds.record-texts',
  'POST /v1/admin/routes/resolve': 'routes.resolve',
};
const VERBS: Readonly<Record<string, string>> = { PATCH: 'update', DELETE: 'delete' };

function rowOf({ method, path }: Operation): string {
  const [, , , resource = '', id, action] = path.split('/');
  const verb = VERBS[method] ?? (method === 'GET' ? (id === undefined ? 'list' : 'get') : 'create');
  return SPELLED[`${method} ${path}`] ?? `${resource}.${action ?? verb}`;
}

const policy: Readonly<Record<string, readonly AdminRole[]>> = ADMIN_POLICY;
const cases = calls.flatMap((call) => ADMIN_ROLES.map((role) => [role, call.method, call.path, call] as const));

describe('each role, on each call of the admin API', () => {
  it.each(cases)('%s: %s %s', async (role, method, path, call) => {
    const roles = contractSays(call);
    expect(policy[rowOf(call)]).toEqual(roles);
    expect(Reflect.get(call.operation, 'x-required-roles')).toEqual(roles);
    const answer = await harness.call(path.replaceAll(/\{[^}]+\}/g, 'x'), {
      method,
      key: keyOf(role),
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }),
    });
    expect([answer.status, answer.code].join(' ') === '403 FORBIDDEN').toBe(!roles.includes(role));
  });

  it('has a row in the policy, and each row has a call', () => {
    expect([...new Set(calls.map(rowOf))].sort()).toEqual(Object.keys(ADMIN_POLICY).sort());
  });
});

describe('a role without permission for a call', () => {
  it('is refused before the body is read, and before the thing is looked for', async () => {
    const viewer = keyOf('viewer');
    for (const body of ['{broken', 'x'.repeat(1_000), Buffer.alloc(200 * 1024, 'x')]) {
      const answer = await harness.call('/v1/admin/accounts', { method: 'POST', key: viewer, body });
      expect([answer.status, answer.code]).toEqual([403, 'FORBIDDEN']);
    }
    const answer = await harness.call('/v1/admin/binds/x', { method: 'PATCH', key: viewer, body: '[]' });
    expect([answer.status, answer.code]).toEqual([403, 'FORBIDDEN']);
  });

  it('changes nothing and leaves no entry', async () => {
    const before = await root.log();
    for (const role of ['viewer', 'support', 'operator'] as const) {
      const answer = await harness.call('/v1/admin/accounts', {
        method: 'POST',
        key: keyOf(role),
        body: { name: 'X' },
      });
      expect(answer.status).toBe(403);
    }
    expect(await root.log()).toBe(before);
  });

  it('gets 404 and 405 for unknown paths and methods, and 403 on the account API', async () => {
    const key = keyOf('viewer');
    expect((await harness.call('/v1/admin/nothing', { key })).code).toBe('NOT_FOUND');
    expect((await harness.call('/v1/admin/accounts', { key, method: 'PUT' })).code).toBe('METHOD_NOT_ALLOWED');
    expect((await harness.call('/v1/verify', { key })).code).toBe('FORBIDDEN');
    expect((await harness.call('/v1/usage', { key })).code).toBe('FORBIDDEN');
  });
});

/** The field that the refusal names, and a change of a connection that changes its peer. */
type PeerChange = readonly [string, object];

describe('an operator', () => {
  const operator = (): AdminCalls => byRole.get('operator') ?? root;
  const bind = { host: '127.0.0.1', port: 2776, password: 'secret', enabled: false };
  const system = { password: 'secret77', allowedCidrs: ['127.0.0.1/32'] };

  it.each([
    ['binds', { ...bind, systemId: 'b-one' }],
    ['smpp-systems', { ...system, systemId: 's-one' }],
  ])('makes and changes %s, and not whether they are trusted', async (resource, draft) => {
    const trusted = await operator().post(resource, { ...draft, trustedForMo: true });
    expect([trusted.status, trusted.code, trusted.field]).toEqual([403, 'FORBIDDEN', 'trustedForMo']);
    const made = await operator().post(resource, { ...draft, trustedForMo: false });
    expect([made.status, made.json['trustedForMo']]).toEqual([201, false]);
    const path = `${resource}/${String(made.json['id'])}`;
    expect((await operator().patch(path, { submitPerSecond: 7 })).status).toBe(200);
    expect((await operator().patch(path, { trustedForMo: true })).code).toBe('FORBIDDEN');
    expect((await root.patch(path, { trustedForMo: true })).json['trustedForMo']).toBe(true);
    expect((await operator().patch(path, { trustedForMo: false })).code).toBe('FORBIDDEN');
    const kept = await operator().patch(path, { trustedForMo: true, submitPerSecond: 8 });
    expect([kept.status, kept.json['trustedForMo'], kept.json['submitPerSecond']]).toEqual([200, true, 8]);
    expect((await operator().delete(path)).status).toBe(204);
    const actors = (await root.notes(made.json['id'])).map(({ actor, action }) => `${actor} ${action}`);
    expect(actors).toEqual(['operator create', 'operator update', 'root update', 'operator update', 'operator delete']);
  });

  const BIND_PEER: readonly PeerChange[] = [
    ['hosts', { hosts: [{ host: '127.0.0.2', port: 2776 }] }],
    [
      'hosts',
      {
        hosts: [
          { host: '127.0.0.1', port: 2776 },
          { host: '127.0.0.1', port: 2777 },
        ],
      },
    ],
    ['host', { host: '127.0.0.2', port: 2776 }],
    ['host', { host: '127.0.0.1', port: 2777 }],
    ['tls', { tls: { enabled: true } }],
    ['tls', { tls: { enabled: false, serverName: 'smsc.example' } }],
    ['outbind', { outbind: { systemId: 'smsc', password: 'k3Vd9qLz', allowedCidrs: ['192.0.2.0/24'] } }],
    ['systemId', { systemId: 'b-other' }],
    ['password', { password: 'another1' }],
    ['senderFormat', { senderFormat: 'national' }],
    ['defaultAlphabet', { defaultAlphabet: 'gsm-packed' }],
    ['carrier', { carrier: 'another' }],
  ];
  const SYSTEM_PEER: readonly PeerChange[] = [
    ['allowedCidrs', { allowedCidrs: ['127.66.0.0/16'] }],
    ['allowedCidrs', { allowedCidrs: ['127.0.0.1/32', '127.66.0.1'] }],
    ['tlsRequired', { tlsRequired: true }],
    [
      'outbind',
      { outbind: { host: 'esme.example', port: 2775, tls: { enabled: false }, systemId: 'us', password: 'come' } },
    ],
    ['systemId', { systemId: 's-other' }],
    ['password', { password: 'another1' }],
    ['senderFormat', { senderFormat: 'international' }],
    ['defaultAlphabet', { defaultAlphabet: 'latin1' }],
    ['carrier', { carrier: 'another' }],
  ];
  const PEER_CHANGES = [
    ...BIND_PEER.map(([field, change]) => ['binds', field, change] as const),
    ...SYSTEM_PEER.map(([field, change]) => ['smpp-systems', field, change] as const),
  ];
  const createLink = async (resource: string, trustedForMo: boolean): Promise<string> => {
    const draft = resource === 'binds' ? { ...bind, systemId: 'b-peer' } : { ...system, systemId: 's-peer' };
    const made = await root.post(resource, { ...draft, trustedForMo });
    expect([made.status, made.json['trustedForMo']]).toEqual([201, trustedForMo]);
    return `${resource}/${idOf(made)}`;
  };
  const rowAt = async (path: string): Promise<unknown> => {
    const [resource = '', id = ''] = path.split('/');
    const uuid = parseId(resource === 'binds' ? 'bind' : 'sys', id);
    return harness.database.query(`SELECT * FROM ${resource.replace('-', '_')} WHERE id = $1`, [uuid]);
  };
  const refusalOf = ({ status, code, field, json }: Answer): unknown[] => {
    return [status, code, field, Reflect.get(Object(json['error']) as object, 'message')];
  };
  const refusedFor = (field: string): unknown[] => [
    403,
    'FORBIDDEN',
    field,
    `The role operator may not change ${field} while trustedForMo is true: this needs the role owner.`,
  ];

  it.each(PEER_CHANGES)('of trusted %s does not change %s: %j; an owner does', async (resource, field, change) => {
    const path = await createLink(resource, true);
    const before = await rowAt(path);
    for (const body of [change, { ...change, submitPerSecond: 9 }, { ...change, trustedForMo: true }]) {
      expect(refusalOf(await operator().patch(path, body))).toEqual(refusedFor(field));
    }
    const untrusting = await operator().patch(path, { ...change, trustedForMo: false });
    expect([untrusting.status, untrusting.field]).toEqual([403, 'trustedForMo']);
    expect(await rowAt(path)).toEqual(before);
    expect((await root.patch(path, change)).status).toBe(200);
    expect(await rowAt(path)).not.toEqual(before);
    expect((await root.delete(path)).status).toBe(204);
  });

  it.each(PEER_CHANGES)('of untrusted %s changes %s: %j', async (resource, field, change) => {
    const path = await createLink(resource, false);
    const before = await rowAt(path);
    const isAddress = ['hosts', 'host', 'tls', 'outbind'].includes(field);
    const body = isAddress ? { ...change, password: 'another1' } : change;
    expect((await operator().patch(path, body)).status).toBe(200);
    expect(await rowAt(path)).not.toEqual(before);
    expect((await root.delete(path)).status).toBe(204);
  });

  it.each(BIND_PEER.filter(([field]) => ['hosts', 'host', 'tls', 'outbind'].includes(field)))(
    'of an untrusted bind changes %s only with the password: %j; an owner needs none',
    async (field, change) => {
      const path = await createLink('binds', false);
      const before = await rowAt(path);
      expect(refusalOf(await operator().patch(path, change))).toEqual([
        403,
        'FORBIDDEN',
        field,
        `The role operator may not change ${field} without the password in the same request: this needs the role owner.`,
      ]);
      expect(await rowAt(path)).toEqual(before);
      expect((await root.patch(path, change)).status).toBe(200);
      expect((await root.delete(path)).status).toBe(204);
    },
  );

  it.each(['binds', 'smpp-systems'])('of trusted %s does not restart a format that is mixed', async (resource) => {
    const path = await createLink(resource, true);
    const [, id = ''] = path.split('/');
    await harness.database.query(
      `INSERT INTO sender_formats (link_id, learned, learned_at) VALUES ($1, 'mixed', now())`,
      [parseId(resource === 'binds' ? 'bind' : 'sys', id)],
    );
    expect(refusalOf(await operator().patch(path, { senderFormat: 'auto' }))).toEqual(refusedFor('senderFormat'));
    expect((await operator().patch(path, { submitPerSecond: 9 })).status).toBe(200);
    expect((await root.patch(path, { senderFormat: 'auto' })).status).toBe(200);
    expect((await root.delete(path)).status).toBe(204);
  });

  it.each([
    ['binds', bind.password],
    ['smpp-systems', system.password],
  ])('learns nothing about the password of trusted %s: the stored one is refused, too', async (resource, password) => {
    const path = await createLink(resource, true);
    expect(refusalOf(await operator().patch(path, { password }))).toEqual(refusedFor('password'));
    expect((await root.delete(path)).status).toBe(204);
  });

  it('rotates the password of an untrusted system, and an owner that of a trusted one', async () => {
    const path = await createLink('smpp-systems', true);
    const before = await rowAt(path);
    expect(refusalOf(await operator().post(`${path}/rotate`))).toEqual(refusedFor('password'));
    expect(await rowAt(path)).toEqual(before);
    expect((await root.post(`${path}/rotate`)).json['password']).toMatch(/^.{8}$/);
    expect((await root.patch(path, { trustedForMo: false })).status).toBe(200);
    expect((await operator().post(`${path}/rotate`)).json['password']).toMatch(/^.{8}$/);
    expect((await root.delete(path)).status).toBe(204);
  });

  it.each([
    ['binds', { hosts: [{ host: '127.0.0.1', port: 2776 }], tls: { enabled: false }, systemId: 'b-peer' }],
    ['binds', { host: '127.0.0.1', port: 2776, senderFormat: 'auto', trustedForMo: true }],
    [
      'binds',
      { name: 'renamed', carrier: 'b-peer@127.0.0.1', connections: 2, window: 20, submitPerSecond: 9, enabled: true },
    ],
    ['smpp-systems', { allowedCidrs: ['127.0.0.1'], tlsRequired: false, systemId: 's-peer', senderFormat: 'auto' }],
    ['smpp-systems', { carrier: 's-peer', maxConnections: 2, submitPerSecond: 9, enabled: false }],
  ])('may send the stored values of trusted %s, and change other fields: %j', async (resource, change) => {
    const path = await createLink(resource, true);
    const changed = await operator().patch(path, change);
    expect([changed.status, changed.json['trustedForMo']]).toEqual([200, true]);
    expect((await operator().delete(path)).status).toBe(204);
  });

  it('enables, drains and reconnects a trusted bind', async () => {
    const path = await createLink('binds', true);
    for (const action of ['enable', 'reconnect', 'drain', 'enable', 'disable']) {
      expect([action, (await operator().post(`${path}/${action}`)).status]).toEqual([action, 202]);
    }
    expect((await operator().delete(path)).status).toBe(204);
  });
});

describe('inbound numbers and an operator', () => {
  const operator = (): AdminCalls => byRole.get('operator') ?? root;
  const draft = { number: '60606', countries: ['GB'] };
  const CHANGES = [
    ['number', { number: '70707' }],
    ['countries', { countries: ['US'] }],
    ['countries', { countries: ['GB', 'US'] }],
  ] as const;
  const messageOf = ({ json }: Answer): unknown => Reflect.get(Object(json['error']) as object, 'message');
  const refused = (what: string): string =>
    `The role operator may not ${what} while the number is a short code, or a number of no numbering plan, and a bind or system has trustedForMo: this needs the role owner.`;
  const trust = (to: boolean): Promise<unknown> =>
    harness.database.query('UPDATE smpp_systems SET trusted_for_mo = $1 WHERE id = $2', [to, systemUuid]);
  let systemUuid: string | null = null;

  beforeAll(async () => {
    await harness.database.query('UPDATE smpp_systems SET trusted_for_mo = false');
    await harness.database.query('UPDATE binds SET trusted_for_mo = false');
    const system = { systemId: 's-numbers', allowedCidrs: ['127.0.0.1/32'], enabled: false };
    systemUuid = parseId('sys', idOf(await root.post('smpp-systems', system)));
  });

  it('while nothing is trusted, are made, changed and deleted', async () => {
    await trust(false);
    const path = `inbound-numbers/${idOf(await operator().post('inbound-numbers', draft))}`;
    for (const [, change] of CHANGES) expect((await operator().patch(path, change)).status).toBe(200);
    expect((await operator().delete(path)).status).toBe(204);
  });

  it('while a system is trusted, even a disabled one, are neither made nor deleted', async () => {
    await trust(true);
    const made = await operator().post('inbound-numbers', draft);
    expect([made.status, made.code, made.field]).toEqual([403, 'FORBIDDEN', 'number']);
    expect(messageOf(made)).toBe(refused('change number'));
    const path = `inbound-numbers/${idOf(await root.post('inbound-numbers', draft))}`;
    const gone = await operator().delete(path);
    expect([gone.status, gone.code, gone.field]).toEqual([403, 'FORBIDDEN', undefined]);
    expect(messageOf(gone)).toBe(refused('delete it'));
    expect((await root.delete(path)).status).toBe(204);
  });

  it('while a bind is trusted, do not change', async () => {
    await trust(false);
    const bind = {
      host: '127.0.0.1',
      port: 1,
      systemId: 'b-numbers',
      password: 'x',
      enabled: false,
      trustedForMo: true,
    };
    const bindPath = `binds/${idOf(await root.post('binds', bind))}`;
    const path = `inbound-numbers/${idOf(await root.post('inbound-numbers', draft))}`;
    const before = (await root.get(path)).json;
    for (const [field, change] of CHANGES) {
      const answer = await operator().patch(path, change);
      expect([answer.status, answer.field, messageOf(answer)]).toEqual([403, field, refused(`change ${field}`)]);
    }
    expect((await root.get(path)).json).toEqual(before);
    expect((await operator().patch(path, { ...draft, brandId: null })).status).toBe(200);
    expect((await operator().patch(path, { brandId: harness.demo.brandId })).status).toBe(200);
    for (const [, change] of CHANGES) expect((await root.patch(path, change)).status).toBe(200);
    expect((await root.delete(path)).status).toBe(204);
    expect((await root.delete(bindPath)).status).toBe(204);
  });

  it('while a system is trusted, are made, changed and deleted if they are long: their country is their own', async () => {
    await trust(true);
    const made = await operator().post('inbound-numbers', { number: '+14155559081', countries: ['US'] });
    expect(made.status).toBe(201);
    const path = `inbound-numbers/${idOf(made)}`;
    expect((await operator().patch(path, { countries: ['US', 'CA'] })).status).toBe(200);
    expect((await operator().patch(path, { number: '+14155559082' })).status).toBe(200);
    expect((await operator().patch(path, { number: '80808' })).status).toBe(403);
    expect((await operator().delete(path)).status).toBe(204);
  });
});

describe('the table of fields that concern trust', () => {
  /** Resources that operators write and whose fields concern only codes that are sent. */
  const OUTBOUND = {
    routes: [
      'prefix',
      'bindId',
      'smppSystemId',
      'priority',
      'weight',
      'costUsd',
      'sourceAddress',
      'submitOptions',
      'enabled',
    ],
    destinations: ['accountId', 'prefix', 'action', 'kinds', 'reason', 'until'],
  };

  const fieldsOf = (path: string, method: 'post' | 'patch'): string[] => {
    const body = document.paths[path]?.[method]?.requestBody;
    const reference = JSON.stringify(body).match(/#\/components\/schemas\/(\w+)/)?.[1] ?? '';
    return Object.keys(Reflect.get(document.components?.schemas?.[reference] ?? {}, 'properties') as object);
  };

  it('has every field of every body that an operator may send', () => {
    const bodies = calls.filter(({ operation }) => operation.requestBody !== undefined);
    const resources = new Set(
      bodies.map(({ path }) => path.split('/')[3] ?? '').filter((each) => OPERATED.includes(each)),
    );
    const known: Readonly<Record<string, readonly string[]>> = {
      ...OUTBOUND,
      ...Object.fromEntries(Object.entries(TRUST_POLICY).map(([name, { fields }]) => [name, Object.keys(fields)])),
    };
    expect([...resources].sort()).toEqual(Object.keys(known).sort());
    for (const [resource, fields] of Object.entries(known)) {
      expect(fieldsOf(`/v1/admin/${resource}`, 'post').sort(), resource).toEqual([...fields].sort());
      for (const field of fieldsOf(`/v1/admin/${resource}/{id}`, 'patch')) expect(fields, resource).toContain(field);
    }
  });
});
