import type { DueMessage } from '../outbound/index.js';
import type { Route } from '../routes/index.js';
import { describe, expect, it } from 'vitest';
import { backoffMs, mtPlan, type PlanFacts, type RouteTarget } from './mt-plan.js';

const NOW = new Date('2025-11-21T12:00:00.000Z');
const route = (id: string, changes: Partial<Route> = {}): Route => ({
  id,
  prefix: '+',
  bindId: `bind-${id}`,
  systemId: null,
  priority: 0,
  weight: 1,
  costUsd: '0',
  sourceAddress: null,
  submitOptions: {},
  enabled: true,
  ...changes,
});
const message = (changes: Partial<DueMessage> = {}): DueMessage => ({
  id: 'm',
  sessionId: 's',
  accountId: 'a',
  destination: '+14155552671',
  sender: '60606',
  textSealed: Buffer.alloc(0),
  expiresAt: new Date(NOW.getTime() + 60_000),
  attempts: 0,
  unknownFates: 0,
  refusedRoutes: [],
  busyRoutes: [],
  networkError: null,
  now: NOW,
  brand: 'Acme',
  sessionLive: true,
  ...changes,
});
const CAPACITY = { carrier: 'north', leaseSeconds: 30, link: { bindId: 'bind-a', slot: 0, owner: 'gw', epoch: '1' } };
const facts = (changes: Partial<PlanFacts> = {}): PlanFacts => ({
  routes: [route('a'), route('b')],
  capacityOf: () => CAPACITY,
  boundElsewhere: () => false,
  deferred: 0,
  random: 0.5,
  ...changes,
});
const plan = (changes: Partial<DueMessage>, more: Partial<PlanFacts> = {}) => mtPlan(message(changes), facts(more));
const leftMs = (ms: number): Partial<DueMessage> => ({ expiresAt: new Date(NOW.getTime() + ms) });

describe('the plan of a due code', () => {
  it('uses the first route whose bind has capacity', () => {
    expect(plan({})).toEqual({ kind: 'send', routeId: 'a', source: '60606', submitOptions: {}, ...CAPACITY });
    const capacityOf = ({ bindId }: RouteTarget) => (bindId === 'bind-b' ? CAPACITY : null);
    expect(plan({}, { capacityOf })).toMatchObject({ kind: 'send', routeId: 'b' });
  });

  it('goes over a system as over a bind, and is left to the gateway to which the system is connected', () => {
    const routes = [route('a', { bindId: null, systemId: 'sys-a' }), route('b')];
    const overSystem = { ...CAPACITY, link: { systemId: 'sys-a' } };
    const capacityOf = ({ systemId }: RouteTarget) => (systemId === 'sys-a' ? overSystem : CAPACITY);
    expect(plan({}, { routes, capacityOf })).toMatchObject({ routeId: 'a', link: { systemId: 'sys-a' } });
    const absent = { routes, capacityOf: ({ systemId }: RouteTarget) => (systemId === null ? CAPACITY : null) };
    expect(plan({}, absent)).toMatchObject({ routeId: 'b' });
    const boundElsewhere = (linkId: string) => linkId === 'sys-a';
    expect(plan({}, { ...absent, boundElsewhere })).toEqual({ kind: 'wait', ms: 50, afresh: false, elsewhere: true });
  });

  it('uses the source address of the route if it has one', () => {
    const routes = [route('a', { sourceAddress: 'ACME' })];
    expect(plan({}, { routes })).toMatchObject({ source: 'ACME' });
  });

  it('skips refused and busy routes', () => {
    expect(plan({ refusedRoutes: ['a'] })).toMatchObject({ routeId: 'b' });
    expect(plan({ busyRoutes: ['a'] })).toMatchObject({ routeId: 'b' });
  });

  it('waits and then tries all routes again when the remaining ones are busy', () => {
    const waits = { kind: 'wait', ms: 1_000, afresh: true, elsewhere: false };
    expect(plan({ busyRoutes: ['a', 'b'], attempts: 2 })).toEqual(waits);
    expect(plan({ busyRoutes: ['a'], refusedRoutes: ['b'], attempts: 2 })).toEqual(waits);
    const capacityOf = ({ bindId }: RouteTarget) => (bindId === 'bind-a' ? CAPACITY : null);
    expect(plan({ busyRoutes: ['a'], attempts: 2 }, { capacityOf })).toEqual(waits);
  });

  it('is left to other gateways when none of its binds is bound here, and while there is no route', () => {
    const waits = { kind: 'wait', ms: 500, afresh: false, elsewhere: true };
    expect(plan({}, { capacityOf: () => null })).toEqual(waits);
    expect(plan({}, { routes: [] })).toEqual(waits);
    expect(plan({ refusedRoutes: ['a'] }, { capacityOf: () => null })).toEqual(waits);
  });

  it('is left to the gateway with the better bind', () => {
    const capacityOf = ({ bindId }: RouteTarget) => (bindId === 'bind-b' ? CAPACITY : null);
    const more = { capacityOf, boundElsewhere: (linkId: string) => linkId === 'bind-a' };
    expect(plan({}, more)).toEqual({ kind: 'wait', ms: 50, afresh: false, elsewhere: true });
    expect(plan({ busyRoutes: ['a'] }, more)).toMatchObject({ kind: 'send', routeId: 'b' });
    expect(plan({ refusedRoutes: ['a'] }, more)).toMatchObject({ kind: 'send', routeId: 'b' });
  });

  it('uses the better bind if bound here, also when it is bound elsewhere', () => {
    expect(plan({}, { boundElsewhere: () => true })).toMatchObject({ kind: 'send', routeId: 'a' });
  });

  it('uses the next route when a bind is full, and waits for the first to have capacity when all are full', () => {
    const full = { fullForMs: 120 };
    const capacityOf = ({ bindId }: RouteTarget) => (bindId === 'bind-a' ? full : CAPACITY);
    expect(plan({}, { capacityOf })).toMatchObject({ kind: 'send', routeId: 'b' });
    const waits = { kind: 'wait', ms: 120, afresh: false, elsewhere: false };
    expect(plan({}, { capacityOf: ({ bindId }) => (bindId === 'bind-a' ? full : { fullForMs: 300 }) })).toEqual(waits);
    expect(plan({}, { capacityOf: ({ bindId }) => (bindId === 'bind-a' ? full : null) })).toEqual(waits);
  });

  it('waits longer the more messages were deferred before it, up to a limit', () => {
    const waits = [0, 20, 60, 2_000].map((deferred) => plan({}, { capacityOf: () => ({ fullForMs: 500 }), deferred }));
    expect(waits).toMatchObject([{ ms: 500 }, { ms: 1_000 }, { ms: 2_000 }, { ms: 2_000 }]);
  });

  it('never waits beyond its expiry', () => {
    expect(plan({ busyRoutes: ['a', 'b'], attempts: 9, ...leftMs(2_000) })).toMatchObject({ ms: 2_000 });
  });

  it.each([
    ['its session is over', { sessionLive: false }, {}, 'SESSION_OVER'],
    ['it expires', leftMs(999), {}, 'EXPIRED'],
    ['no route existed in time', leftMs(0), { routes: [] }, 'NO_ROUTE'],
    [
      'it expired, with the last network error',
      { ...leftMs(-5), networkError: 'ESME_RTHROTTLED' },
      {},
      'ESME_RTHROTTLED',
    ],
    ['two attempts have an unknown fate', { unknownFates: 2 }, {}, 'UNKNOWN_FATE'],
    ['every route refused it', { refusedRoutes: ['a', 'b'], networkError: 'ESME_RINVDSTADR' }, {}, 'ESME_RINVDSTADR'],
  ])('fails because %s', (_, changes, more, error) => {
    expect(plan(changes, more)).toEqual({ kind: 'fail', error });
  });

  it('is sent once more after one attempt of unknown fate', () => {
    expect(plan({ unknownFates: 1 })).toMatchObject({ kind: 'send' });
  });
});

describe('the delay before all routes are tried again', () => {
  it('doubles from half a second to eight', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 20].map((attempts) => backoffMs(attempts, 0.5))).toEqual([
      500, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000,
    ]);
  });

  it('has a jitter of up to a fifth', () => {
    expect([backoffMs(5, 0), backoffMs(5, 0.999_999)]).toEqual([6_400, 9_600]);
  });
});
