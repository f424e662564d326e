import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { OpenAPIObject } from '@nestjs/swagger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationsOf } from '../../apps/control-plane/src/docs/openapi/operations.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { AdminCalls } from '../support/admin-calls.js';
import { startReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';

let harness: ControlPlaneHarness;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
});
afterAll(() => harness.close());

const documentOf = async (): Promise<OpenAPIObject> =>
  JSON.parse((await harness.call('/v1/openapi.json', { key: null })).text) as OpenAPIObject;

const REDOCLY = [
  'node_modules/@redocly/cli/bin/cli.js',
  'lint',
  '--config',
  'config/tooling/redocly.yaml',
  '--format',
  'github-actions',
];

describe('GET /v1/openapi.json', () => {
  it('is public, may be kept for a while and counts towards no quota', async () => {
    const answer = await harness.call('/v1/openapi.json', { key: null });
    expect([answer.status, answer.headers['content-type'], answer.headers['cache-control']]).toEqual([
      200,
      'application/json; charset=utf-8',
      'public, max-age=300',
    ]);
    expect(Object.keys(answer.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    expect(answer.json).toMatchObject({ openapi: '3.1.0', servers: [{ url: harness.baseUrl }] });
  });

  it('passes the linter', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-openapi-'));
    const file = path.join(folder, 'openapi.json');
    writeFileSync(file, (await harness.call('/v1/openapi.json', { key: null })).text);
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const { status, stdout } = spawnSync(process.execPath, [...REDOCLY, file], { env, encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect([stdout, status]).toEqual(['', 0]);
  });
});

describe('the errors of the document', () => {
  it('are described once and referenced by the calls', async () => {
    const { text } = await harness.call('/v1/openapi.json', { key: null });
    const { components = {}, paths } = JSON.parse(text) as OpenAPIObject;
    const names = new Set<string>();
    for (const { operation } of operationsOf({ paths })) {
      for (const [status, response] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue;
        const [, name = ''] =
          /^#\/components\/responses\/(.+)$/.exec(String(Reflect.get(response ?? {}, '$ref'))) ?? [];
        expect([operation.operationId, status, components.responses?.[name]]).toEqual([
          operation.operationId,
          status,
          expect.objectContaining({ description: expect.stringMatching(/^`[A-Z_]+`/) as string }),
        ]);
        names.add(name);
      }
    }
    expect([...names].sort()).toEqual(Object.keys(components.responses ?? {}).sort());
    // Whole in each call the errors alone would add some 500 kB.
    expect(Buffer.byteLength(text)).toBeLessThan(500_000);
  });
});

describe('the key of the document', () => {
  it('is a bearer token of no further format', async () => {
    expect((await documentOf()).components?.securitySchemes?.['bearer']).toEqual({
      type: 'http',
      scheme: 'bearer',
      description: expect.any(String) as string,
    });
  });
});

describe('a new bind of the document', () => {
  const HOSTS = { hosts: [{ host: '127.0.0.1', port: 2775 }] };

  it.each([
    ['hosts', HOSTS, true],
    ['host and port', { host: '127.0.0.1', port: 2775 }, true],
    ['no host', {}, false],
    ['a host alone', { host: '127.0.0.1' }, false],
    ['a port alone', { port: 2775 }, false],
  ])('with %s: the schema and the API agree', async (_what, hosts, accepted) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(await documentOf(), 'openapi');
    const body = { ...hosts, systemId: 'countersign', password: 'secret' };
    const fits = ajv.compile({ $ref: 'openapi#/components/schemas/BindDraft' })(body);
    const { status, code } = await new AdminCalls(harness).post('binds', body);
    expect([fits, status === 201, code]).toEqual([accepted, accepted, accepted ? undefined : 'VALIDATION_ERROR']);
  });
});

describe('the calls of the document', () => {
  it('have names of their own, and say which key they take', async () => {
    const operations = operationsOf(await documentOf()).map(({ operation }) => operation);
    const names = operations.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(operations.length);
    for (const { operationId, security, summary, tags } of operations) {
      const keyless = [
        'getOpenapi',
        'getAsyncapi',
        'signInWithKey',
        'signInWithLink',
        'beginOidcSignIn',
        'endOidcSignIn',
        'beginPhoneSignIn',
        'getPhoneSignIn',
        'sendSignInCode',
        'checkSignInCode',
        'listSignInWays',
        'getSecondStep',
        'sendSecondStepCode',
        'checkSecondStepCode',
      ];
      const needed = tags?.[0] === 'Console' ? { session: [] } : { bearer: [expect.any(String) as string] };
      expect([operationId, security]).toEqual([operationId, keyless.includes(operationId ?? '') ? [] : [needed]]);
      expect([typeof summary, tags?.length]).toEqual(['string', 1]);
    }
  });

  it('are all the methods that their addresses have', async () => {
    const operations = operationsOf(await documentOf());
    for (const path of new Set(operations.map((each) => each.path))) {
      const target = path.replaceAll(/\{[^}]+\}/g, 'x');
      const methods = operations
        .filter((each) => new RegExp(`^${each.path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(target))
        .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
      const { status, headers } = await harness.call(target, { method: 'OPTIONS' });
      expect([path, status, headers['allow']]).toEqual([path, 405, [...new Set(methods)].sort().join(', ')]);
    }
  });

  it('never say nullable, which OpenAPI 3.1 does not know', async () => {
    expect(JSON.stringify(await documentOf())).not.toContain('"nullable"');
  });
});

describe('the webhooks of the document', () => {
  it('are the posted bodies, field by field', async () => {
    const types = ['denied', 'expired', 'cancelled', 'sender_mismatch', 'otp_delivery'].map(
      (name) => `verification.${name}`,
    );
    await harness.database.query('UPDATE accounts SET webhook_events = $1', [types]);
    const receiver = await startReceiver();
    const seen = (): string[] =>
      receiver.received.map(({ body }) => String(Reflect.get(JSON.parse(body) as object, 'type')));
    try {
      const create = async (phone: string): Promise<string> => {
        const changes = { phone, webhookUrl: receiver.url, ttl: 300, metadata: { orderId: '7' } };
        return `/v1/verify/${String((await harness.create(changes, { key: harness.demo.testApiKey })).json['id'])}`;
      };
      for (const phone of ['+15005550001', '+15005550003', '+15005550005']) await create(phone);
      const call = { key: harness.demo.testApiKey };
      await harness.call(`${await create('+15005550006')}/send-sms`, { ...call, method: 'POST' });
      await harness.call(await create('+15005550004'), { ...call, method: 'DELETE' });
      const wanted = ['completed', 'denied', 'sender_mismatch', 'otp_delivery', 'cancelled'];
      await until('every kind of event came', 20_000, () =>
        wanted.every((name) => seen().includes(`verification.${name}`)),
      );
      const documented = await harness.documented();
      for (const posted of receiver.received)
        expect([posted.body, documented.eventFaults(posted)]).toEqual([posted.body, []]);
    } finally {
      await receiver.close();
    }
  });
});
