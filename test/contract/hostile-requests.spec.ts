import type { OpenAPIObject } from '@nestjs/swagger';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { operationsOf, type Operation, parametersOf } from '../../apps/control-plane/src/docs/openapi/operations.js';
import { Schemas } from '../../apps/control-plane/src/docs/openapi/schema.js';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';
import { hostileBody, hostileHeaders, hostileQuery, hostileSegment } from '../support/hostile.js';

/** Requests per call of the API. */
const RUNS = 60;

/**
 * Tables that a refused request must not change. Events and deliveries change by themselves; refused codes are counted.
 */
const TABLES = [
  'accounts',
  'admin_keys',
  'api_keys',
  'audit_entries',
  'binds',
  'brands',
  'card_phones',
  'cards',
  'destination_rules',
  'idempotency_keys',
  'inbound_numbers',
  'messages',
  'otp_counters',
  'otp_spend',
  'outbound_messages',
  'prices',
  'routes',
  'sessions',
  'smpp_systems',
  'submissions',
];
const COUNTS = `SELECT ${TABLES.map((table) => `(SELECT count(*)::int FROM ${table}) AS ${table}`).join(', ')}`;

// Opened here and not in a hook: the tests are generated from the calls of the description.
const harness = await ControlPlaneHarness.open();
afterAll(() => harness.close());

const admin = new AdminCalls(harness);
const made = async (resource: string, body: Readonly<Record<string, unknown>>): Promise<string> =>
  String((await admin.post(resource, body)).json['id']);

/** An account of its own, which hostile requests may change freely. */
const accountId = await made('accounts', { name: 'Sandbox' });
const instruction = 'Send this message to sign in.';
const bindId = await made('binds', { host: '127.0.0.1', port: 2776, systemId: 'sandbox', password: 'secret' });
const ids = [
  accountId,
  await made('brands', { accountId, name: 'Sandbox', slug: 'SANDBOX', instruction }),
  await made('keys', { accountId, kind: 'live', name: 'Sandbox' }),
  await made('admin-keys', { name: 'Sandbox', role: 'viewer' }),
  await made('prices', { channel: 'rcs', country: 'NZ', usd: '0.01', from: '2026-01-01T00:00:00Z' }),
  await made('destinations', { prefix: '+64900', action: 'block', reason: 'premium' }),
  bindId,
  await made('smpp-systems', { systemId: 'sandbox' }),
  await made('inbound-numbers', { number: '60606', countries: ['NZ'] }),
  await made('routes', { prefix: '+64', bindId }),
];

/** Replaced by a session that is opened when the request is sent, so that requests do not affect each other. */
const NEW_SESSION = 'sess_new';

async function withNewSession(target: string): Promise<string> {
  if (!target.includes(NEW_SESSION)) return target;
  const { json } = await harness.create({}, { key: harness.demo.testApiKey });
  return target.replace(NEW_SESSION, String(json['id']));
}

const { text } = await harness.call('/v1/openapi.json', { key: null });
const document = JSON.parse(text) as OpenAPIObject;
const schemas = new Schemas(document);

const isAdmin = ({ path }: Operation): boolean => path.startsWith('/v1/admin/');

/** Fields that replace another field and are refused beside it. */
const INSTEAD = ['host', 'port'];

/** A valid body of the call, and the names of all its members. */
function bodyOf(call: Operation): { readonly base: readonly [string, unknown][]; readonly names: readonly string[] } {
  const { requestBody } = call.operation;
  const schema =
    requestBody === undefined || '$ref' in requestBody ? undefined : requestBody.content['application/json']?.schema;
  if (schema === undefined) return { base: [], names: [] };
  const known: Readonly<Record<string, unknown>> = {
    phone: PHONE,
    accountId: isAdmin(call) ? accountId : harness.demo.accountId,
    brandId: harness.demo.brandId,
    bindId,
  };
  const base = Object.entries(schemas.example(schema) ?? {});
  const members = base.filter(([name]) => !INSTEAD.includes(name));
  return { base: members.map(([name, value]) => [name, known[name] ?? value]), names: base.map(([name]) => name) };
}

/** An arbitrary request to this call. */
function requests(call: Operation): fc.Arbitrary<{ target: string; body: string; headers: Record<string, string> }> {
  const { base, names } = bodyOf(call);
  const segments = isAdmin(call) ? ids : [...ids, ...Array<string>(ids.length).fill(NEW_SESSION)];
  const queries = parametersOf(call.operation).flatMap((each) => (each.in === 'query' ? [each.name] : []));
  return fc.record({
    target: fc
      .tuple(hostileSegment(segments), hostileQuery(queries, ids))
      .map(([segment, query]) => call.path.replaceAll(/\{[^}]+\}/g, () => segment) + query),
    body: hostileBody(base, names, ids),
    headers: hostileHeaders,
  });
}

/** A gateway answers traces, and there is none here: a trace of an existing bind gets an error (contract, Admin). */
const isLeftUnanswered = ({ method, path }: Operation, status: number): boolean =>
  method === 'GET' && path === '/v1/admin/binds/{id}/trace' && status === 503;

const rows = async (): Promise<unknown> => (await harness.database.query(COUNTS))[0];

describe('a hostile request', () => {
  it.each(operationsOf(document).map((call) => [`${call.method} ${call.path}`, call] as const))(
    'to %s is answered as documented, breaks nothing, and stores nothing when it is refused',
    async (_name, call) => {
      const key = isAdmin(call) ? admin.key : harness.demo.testApiKey;
      await fc.assert(
        fc.asyncProperty(requests(call), async ({ target: written, body, headers }) => {
          const target = await withNewSession(written);
          const before = await rows();
          const sent = call.method === 'GET' || body === '' ? {} : { body };
          // The harness's client refuses every answer that is not documented.
          const answer = await harness.call(target, { method: call.method, key, headers, ...sent });
          if (!isLeftUnanswered(call, answer.status)) expect(answer.status, answer.text).toBeLessThan(500);
          if (answer.status >= 400) expect(await rows()).toEqual(before);
        }),
        { numRuns: RUNS },
      );
    },
  );
});
