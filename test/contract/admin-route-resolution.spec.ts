import { CarrierStore, type NewBind, type NewRoute } from '@countersign/carriers/config';
import { BindLeaseStore, GatewayStore, SystemConnectionStore } from '@countersign/carriers/leases';
import { parseId, renderId, type Uuid } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness, PHONE, type Answer } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let carriers: CarrierStore;
let gatewayId: Uuid;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  carriers = new CarrierStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  gatewayId = harness.clock.newId();
  await harness.database.query(`UPDATE accounts SET otp_countries = '{*}'`);
});
afterEach(async () => {
  for (const table of ['routes', 'bind_connections', 'binds', 'system_connections', 'prices', 'destination_rules'])
    await harness.database.query(`DELETE FROM ${table}`);
  await harness.database.query(`UPDATE queue_switches SET paused_at = NULL`);
});
afterAll(() => harness.close());

const resolve = (body: object = { phone: PHONE }, by: AdminCalls = admin): Promise<Answer> =>
  by.post('routes/resolve', body);

let binds = 0;
async function newBind(changes: Partial<NewBind> = {}): Promise<Uuid> {
  const hosts = [{ host: '127.0.0.1', port: 1 }];
  const name = `bind-${(binds += 1)}`;
  const bind = { name, carrier: 'north', hosts, systemId: 'us', password: 'secret', ...changes };
  return (await carriers.createBind(harness.database, bind)).id;
}

/** A gateway reports the bind as bound, with this many requests without response. */
async function bound(bindId: Uuid, windowUsed = 0): Promise<void> {
  await new GatewayStore().recordHeartbeat(harness.database, { id: gatewayId, host: 'g', version: '1' }, false);
  const leases = new BindLeaseStore();
  await leases.survey(harness.database);
  expect(await leases.claimSlots(harness.database, gatewayId, [{ bindId, slot: 0 }])).toHaveLength(1);
  await harness.database.query(`UPDATE bind_connections SET status = $2 WHERE bind_id = $1`, [
    bindId,
    JSON.stringify({ state: 'bound', windowUsed }),
  ]);
}

const route = async (changes: Partial<NewRoute>): Promise<string> =>
  renderId('route', (await carriers.createRoute(harness.database, { prefix: '+', ...changes })).id);

const candidatesOf = ({ json }: Answer): unknown[] =>
  (json['candidates'] as { routeId: string; verdict: string; reason: string | null }[]).map((candidate) => [
    candidate.routeId,
    candidate.verdict,
    candidate.reason,
  ]);

describe('POST /v1/admin/routes/resolve', () => {
  it('answers the way that a code would go, with sender, options and price, in the order of the gateways', async () => {
    const [best, other, down] = [
      await newBind({ submitOptions: { destination: { form: 'plus' } } }),
      await newBind(),
      await newBind(),
    ];
    await bound(best);
    await bound(other);
    const fallback = await route({ bindId: other });
    const unbound = await route({ prefix: '+1415', bindId: down });
    const chosen = await route({
      prefix: '+1',
      bindId: best,
      costUsd: '0.0051',
      sourceAddress: 'ACME',
      submitOptions: { concatenation: 'udh' },
    });
    const light = await route({ prefix: '+1', bindId: other, priority: 1 });
    await route({ prefix: '+44', bindId: best });
    await admin.post('prices', { channel: 'sms_otp', country: 'US', usd: '0.0079', from: '2026-01-01T00:00:00.000Z' });
    const answer = await resolve();
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      decision: 'send',
      country: 'US',
      queuePaused: false,
      guard: { accountId: null, refusedBy: null, until: null, rules: [] },
      chosen: {
        routeId: chosen,
        linkId: renderId('bind', best),
        sourceAddress: 'ACME',
        submitOptions: { destination: { form: 'plus' }, concatenation: 'udh' },
        costUsd: '0.0051',
        priceUsd: '0.0079',
      },
    });
    expect(candidatesOf(answer)).toEqual([
      [unbound, 'skipped', 'No connection can send.'],
      [chosen, 'chosen', null],
      [light, 'next', null],
      [fallback, 'next', null],
    ]);
  });

  it('says of each skipped route why: disabled, of a disabled bind, of one that carries no codes, full', async () => {
    const [off, receiver, full] = [
      await newBind({ enabled: false }),
      await newBind({ bindType: 'receiver' }),
      await newBind({ window: 10 } as Partial<NewBind>),
    ];
    await bound(full, 10);
    const [usable, disabled, ofDisabled, ofReceiver] = [
      await route({ bindId: full }),
      await route({ bindId: full, enabled: false }),
      await route({ bindId: off }),
      await route({ bindId: receiver }),
    ];
    const answer = await resolve();
    expect(answer.json).toMatchObject({ decision: 'wait', chosen: null });
    expect(candidatesOf(answer)[0]).toEqual([usable, 'skipped', 'The windows of all its connections are used.']);
    expect(candidatesOf(answer).slice(1).sort()).toEqual(
      [
        [disabled, 'skipped', 'The route is disabled.'],
        [ofDisabled, 'skipped', 'Its bind or system is disabled.'],
        [ofReceiver, 'skipped', 'Its bind or system may not carry codes: see bindType or bindTypes.'],
      ].sort(),
    );
  });

  it('goes over a connected system, as over a bind', async () => {
    const system = await carriers.createSystem(harness.database, {
      systemId: 'agg',
      password: 'secret77',
      carrier: 'agg',
    });
    const way = await route({ systemId: system.id });
    expect((await resolve()).json).toMatchObject({ decision: 'wait' });
    await new GatewayStore().recordHeartbeat(harness.database, { id: gatewayId, host: 'g', version: '1' }, false);
    const status = { state: 'bound', tls: false, windowUsed: 0, submitPerSecond: 0, throttled: 0 } as const;
    await new SystemConnectionStore(gatewayId).replaceConnections(harness.database, [
      {
        id: harness.clock.newId(),
        systemId: system.id,
        address: '127.0.0.1:1',
        bindType: 'transceiver',
        status: { ...status, enquireLinkMs: null, lastError: null },
      },
    ]);
    expect((await resolve()).json).toMatchObject({
      decision: 'send',
      reason: 'A code goes over agg.',
      chosen: { routeId: way, linkId: renderId('sys', system.id), sourceAddress: null, priceUsd: null },
    });
  });

  it('without a route is no_route; a paused queue makes a code wait', async () => {
    expect((await resolve()).json).toMatchObject({ decision: 'no_route', candidates: [], chosen: null });
    const bind = await newBind();
    await bound(bind);
    await route({ bindId: bind });
    await admin.post('queues/outbound/pause');
    expect((await resolve()).json).toMatchObject({ decision: 'wait', queuePaused: true });
    await admin.post('queues/outbound/resume');
    expect((await resolve()).json).toMatchObject({ decision: 'send', queuePaused: false });
  });

  it('with a brand judges the guard for its account, and counts nothing', async () => {
    const bind = await newBind();
    await bound(bind);
    await route({ bindId: bind });
    const { brandId, accountId, inboundNumber } = harness.demo;
    const ask = () => resolve({ phone: PHONE, brandId });
    expect((await ask()).json).toMatchObject({
      decision: 'send',
      guard: { accountId, refusedBy: null },
      chosen: { sourceAddress: inboundNumber },
    });
    // More often than the cap of the phone allows.
    for (let times = 0; times < 6; times += 1) expect((await ask()).json['decision']).toBe('send');
    const counted = await harness.database.query('SELECT 1 FROM otp_counters UNION ALL SELECT 1 FROM otp_sends');
    expect(counted).toEqual([]);
    await admin.post('destinations', { accountId, prefix: '+1415', action: 'block', reason: 'test' });
    expect((await ask()).json).toMatchObject({
      decision: 'refused',
      guard: { refusedBy: 'destination_rule', rules: [{ prefix: '+1415', action: 'block', accountId }] },
    });
    expect((await resolve()).json).toMatchObject({ decision: 'send', guard: { rules: [] } });
  });

  it('names a cap of the phone with its end', async () => {
    const bind = await newBind();
    await route({ bindId: bind });
    const { brandId } = harness.demo;
    const phone = '+14155550177';
    for (let sends = 0; sends < 5; sends += 1) {
      const id = String((await harness.create({ phone })).json['id']);
      expect((await harness.call(`/v1/verify/${id}/send-sms`, { method: 'POST' })).status).toBe(200);
    }
    const answer = await resolve({ phone, brandId });
    expect(answer.json).toMatchObject({
      decision: 'refused',
      guard: { refusedBy: 'phone_hourly', until: expect.stringMatching(/Z$/) as string },
    });
  });

  it('is audited with the phone masked, for support and above', async () => {
    const support = await admin.colleague('support');
    const viewer = await admin.colleague('viewer');
    expect((await resolve(undefined, viewer)).code).toBe('FORBIDDEN');
    expect((await resolve(undefined, support)).status).toBe(200);
    const notes = await admin.notes('resolve');
    expect(notes.at(-1)).toMatchObject({
      actor: 'support',
      action: 'resolve',
      resource: 'routes',
      after: { phone: '+141******71', brandId: null },
    });
    expect((await harness.call('/v1/admin/routes/resolve', { method: 'POST', body: {} })).code).toBe('FORBIDDEN');
  });

  it.each([
    [{}, 'VALIDATION_ERROR', 'phone'],
    [{ phone: 'x' }, 'INVALID_PHONE', 'phone'],
    [{ phone: '+15005550001' }, 'INVALID_PHONE', 'phone'],
    [{ phone: '+14155552671', brandId: 'brd_00000000000000000000000000' }, 'INVALID_BRAND', 'brandId'],
    [{ phone: '+14155552671', brandId: 7 }, 'VALIDATION_ERROR', 'brandId'],
    [{ phone: '+14155552671', other: 1 }, 'VALIDATION_ERROR', 'other'],
  ])('refuses %j', async (body, code, field) => {
    const answer = await resolve(body);
    expect([answer.status, answer.code, answer.field]).toEqual([422, code, field]);
  });

  it('of an inactive brand is refused, and GET of its path finds no route', async () => {
    const { json } = await admin.post('brands', {
      accountId: harness.demo.accountId,
      name: 'Gone',
      slug: 'GONE',
      instruction: 'Send this message.',
      active: false,
    });
    const brandId = String(json['id']);
    expect(parseId('brd', brandId)).not.toBeNull();
    await until(
      'the brand is read',
      5_000,
      async () => (await resolve({ phone: PHONE, brandId })).code === 'INVALID_BRAND',
    );
    expect((await admin.get('routes/resolve')).code).toBe('NOT_FOUND');
  });
});
