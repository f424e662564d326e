import { CarrierStore } from '@countersign/carriers/config';
import { renderId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let bindId: string;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  bindId = await newBind('north');
});
afterAll(() => harness.close());

async function newBind(name: string): Promise<string> {
  const carriers = new CarrierStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const hosts = [{ host: '127.0.0.1', port: 2776 }];
  const bind = { name, carrier: name, hosts, systemId: 'us', password: 'secret' };
  return renderId('bind', (await carriers.createBind(harness.database, bind)).id);
}

describe('a route', () => {
  it('needs a prefix and a bind; the rest has defaults', async () => {
    const answer = await admin.post('routes', { prefix: '+1', bindId });
    expect(answer.status).toBe(201);
    const { id, ...rest } = answer.json;
    expect(id).toMatch(/^route_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(rest).toEqual({
      prefix: '+1',
      bindId,
      priority: 0,
      weight: 1,
      costUsd: '0.00',
      sourceAddress: null,
      submitOptions: {},
      enabled: true,
    });
    expect((await admin.get(`routes/${String(id)}`)).json).toEqual(answer.json);
  });

  it('takes all of its fields, at its creation and later', async () => {
    const submitOptions = { destination: { form: 'plus' } };
    const body = {
      bindId,
      priority: 3,
      weight: 7,
      costUsd: '0.0079',
      sourceAddress: 'ACME',
      submitOptions,
      enabled: false,
    };
    const answer = await admin.post('routes', { prefix: '+4479', ...body });
    expect(answer.json).toMatchObject({ prefix: '+4479', ...body });
    const changes = {
      prefix: '+',
      bindId: await newBind('south'),
      priority: 0,
      weight: 1,
      costUsd: '12.50',
      sourceAddress: null,
      submitOptions: {},
      enabled: true,
    };
    const changed = await admin.patch(`routes/${idOf(answer)}`, changes);
    expect([changed.status, changed.json]).toEqual([200, { ...answer.json, ...changes }]);
    const [created, updated] = await admin.notes(idOf(answer));
    expect([created?.after, updated?.before, updated?.after]).toEqual([answer.json, answer.json, changed.json]);
  });

  it('may exist beside others of its prefix: priority and weight decide which is used', async () => {
    const twin = { prefix: '+4420', bindId, weight: 5 };
    expect((await admin.post('routes', twin)).status).toBe(201);
    expect((await admin.post('routes', twin)).status).toBe(201);
  });

  it.each<[unknown, string]>([
    [0.0079, '0.0079'],
    [0, '0.00'],
    ['0.000001', '0.000001'],
  ])('costs %j, which reads %s', async (costUsd, shown) => {
    expect((await admin.post('routes', { prefix: '+2', bindId, costUsd })).json['costUsd']).toBe(shown);
  });

  it.each<[string, unknown]>([
    ['prefix', undefined],
    ['prefix', ''],
    ['prefix', '44'],
    ['prefix', '+0'],
    ['prefix', '+1234567890123456'],
    ['prefix', '+44\n'],
    ['prefix', null],
    ['bindId', undefined],
    ['bindId', ''],
    ['bindId', 5],
    ['bindId', null],
    ['bindId', 'bind_00000000000000000000000000'],
    ['bindId', 'acct_00000000000000000000000000'],
    ['priority', -1],
    ['priority', 1.5],
    ['priority', 1_000_001],
    ['priority', '0'],
    ['priority', null],
    ['weight', 0],
    ['weight', 1_000_001],
    ['weight', null],
    ['costUsd', '-1'],
    ['costUsd', -1],
    ['costUsd', '1e3'],
    ['costUsd', '0.0000001'],
    ['costUsd', 'free'],
    ['costUsd', null],
    ['sourceAddress', ''],
    ['sourceAddress', 'Acme Inc'],
    ['sourceAddress', '+0123'],
    ['sourceAddress', 5],
    ['enabled', 'yes'],
    ['enabled', null],
    ['id', 'x'],
    ['status', 'bound'],
  ])('with %s %j is refused, and nothing is made', async (field, value) => {
    const before = (await admin.get('routes?limit=100')).text;
    const answer = await admin.post('routes', { prefix: '+1', bindId, [field]: value });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
    expect((await admin.get('routes?limit=100')).text).toBe(before);
  });

  it('is not led to a bind that is not there by a change, either', async () => {
    const id = idOf(await admin.post('routes', { prefix: '+3', bindId }));
    for (const unknown of ['bind_00000000000000000000000000', 'x']) {
      const refused = await admin.patch(`routes/${id}`, { bindId: unknown });
      expect([refused.code, refused.field]).toEqual(['VALIDATION_ERROR', 'bindId']);
    }
    expect((await admin.get(`routes/${id}`)).json['bindId']).toBe(bindId);
  });

  it('that is deleted is gone', async () => {
    const id = idOf(await admin.post('routes', { prefix: '+3', bindId }));
    const gone = await admin.delete(`routes/${id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await admin.get(`routes/${id}`)).code).toBe('NOT_FOUND');
    expect((await admin.delete(`routes/${id}`)).code).toBe('NOT_FOUND');
    expect((await admin.notes(id)).map(({ action }) => action)).toEqual(['create', 'delete']);
  });

  it('leads to a bind or to a system, and to the other after a change that names it', async () => {
    const smppSystemId = idOf(await admin.post('smpp-systems', { systemId: 'a system' }));
    const answer = await admin.post('routes', { prefix: '+5', smppSystemId });
    expect([answer.status, answer.json]).toMatchObject([201, { prefix: '+5', bindId: null, smppSystemId }]);
    const id = idOf(answer);
    expect((await admin.get(`routes/${id}`)).json).toEqual(answer.json);
    const toBind = await admin.patch(`routes/${id}`, { bindId });
    expect([toBind.json['bindId'], 'smppSystemId' in toBind.json]).toEqual([bindId, false]);
    for (const kept of [{ smppSystemId: null }, { weight: 2 }, { bindId, smppSystemId: null }])
      expect((await admin.patch(`routes/${id}`, kept)).json).toMatchObject({ bindId });
    const back = await admin.patch(`routes/${id}`, { smppSystemId, bindId: null });
    expect(back.json).toMatchObject({ bindId: null, smppSystemId, weight: 2 });
    expect((await admin.notes(id)).at(-1)?.after).toEqual(back.json);
  });

  it('leads to one of both', async () => {
    const smppSystemId = idOf(await admin.post('smpp-systems', { systemId: 'either' }));
    const toSystem = idOf(await admin.post('routes', { prefix: '+5', smppSystemId }));
    const toBind = idOf(await admin.post('routes', { prefix: '+5', bindId }));
    const bodies: [string, object, string][] = [
      [`routes/${toBind}`, { bindId, smppSystemId }, 'smppSystemId'],
      [`routes/${toBind}`, { bindId: null }, 'bindId'],
      [`routes/${toSystem}`, { smppSystemId: null }, 'bindId'],
      [`routes/${toSystem}`, { smppSystemId: 'sys_00000000000000000000000000' }, 'smppSystemId'],
      [`routes/${toSystem}`, { smppSystemId: bindId }, 'smppSystemId'],
      [`routes/${toSystem}`, { smppSystemId: 5 }, 'smppSystemId'],
    ];
    for (const [path, body, field] of bodies) {
      const refused = await admin.patch(path, body);
      expect([refused.status, refused.code, refused.field]).toEqual([422, 'VALIDATION_ERROR', field]);
    }
    expect((await admin.post('routes', { prefix: '+5', bindId, smppSystemId })).field).toBe('smppSystemId');
  });

  it('decides at once whether a code is sent', async () => {
    const { id } = (await harness.create()).json;
    const send = (): Promise<Answer> => harness.call(`/v1/verify/${String(id)}/send-sms`, { method: 'POST' });
    for (const { id: route } of (await admin.get('routes?limit=100')).json['data'] as { id: string }[]) {
      await admin.delete(`routes/${route}`);
    }
    expect((await send()).code).toBe('SERVICE_UNAVAILABLE');
    await admin.post('routes', { prefix: '+1415', bindId });
    expect((await send()).status).toBe(200);
  });

  it('to a system decides it too, unless the system is disabled or may only bind as transmitter', async () => {
    const { id } = (await harness.create({ phone: '+33612345678' })).json;
    const send = (): Promise<Answer> => harness.call(`/v1/verify/${String(id)}/send-sms`, { method: 'POST' });
    const system = `smpp-systems/${idOf(await admin.post('smpp-systems', { systemId: 'only', bindTypes: ['transmitter'] }))}`;
    const smppSystemId = system.slice('smpp-systems/'.length);
    await admin.post('routes', { prefix: '+33612', smppSystemId });
    expect((await send()).code).toBe('SERVICE_UNAVAILABLE');
    await admin.patch(system, { bindTypes: ['receiver'], enabled: false });
    expect((await send()).code).toBe('SERVICE_UNAVAILABLE');
    await admin.patch(system, { enabled: true });
    expect((await send()).status).toBe(200);
  });
});
