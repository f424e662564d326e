import type { DueMessage } from '@countersign/carriers/outbound';
import type { Route } from '@countersign/carriers/routes';
import { describe, expect, it } from 'vitest';
import { backoffMs, deliveryPlan, type PlanFacts } from './delivery-plan.js';

const NOW = new Date('2025-11-21T12:00:00.000Z');
const route = (id: string, changes: Partial<Route> = {}): Route => ({
  id,
  prefix: '+',
  bindId: `bind-${id}`,
  priority: 0,
  weight: 1,
  costUsd: '0',
  sourceAddress: null,
  enabled: true,
  ...changes,
});
const message = (changes: Partial<DueMessage> = {}): DueMessage => ({
  id: 'm',
  sessionId: 's',
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
  sessionLive: true,
  ...changes,
});
const ROOM = { carrier: 'north', leaseSeconds: 30, lease: { bindId: 'bind-a', slot: 0, owner: 'gw', epoch: '1' } };
const facts = (changes: Partial<PlanFacts> = {}): PlanFacts => ({
  routes: [route('a'), route('b')],
  capacityOf: () => ROOM,
  boundElsewhere: () => false,
  deferred: 0,
  random: 0.5,
  ...changes,
});
const plan = (changes: Partial<DueMessage>, more: Partial<PlanFacts> = {}) =>
  deliveryPlan(message(changes), facts(more));
const leftMs = (ms: number): Partial<DueMessage> => ({ expiresAt: new Date(NOW.getTime() + ms) });

describe('what becomes of a due code', () => {
  it('goes by the first route whose bind has room', () => {
    expect(plan({})).toEqual({ kind: 'send', routeId: 'a', bindId: 'bind-a', source: '60606', ...ROOM });
    const roomOf = (bindId: string) => (bindId === 'bind-b' ? ROOM : null);
    expect(plan({}, { capacityOf: roomOf })).toMatchObject({ kind: 'send', routeId: 'b' });
  });

  it('shows the sender of its route, where that has one', () => {
    const routes = [route('a', { sourceAddress: 'ACME' })];
    expect(plan({}, { routes })).toMatchObject({ source: 'ACME' });
  });

  it('passes over routes that refused or asked for time', () => {
    expect(plan({ refusedRoutes: ['a'] })).toMatchObject({ routeId: 'b' });
    expect(plan({ busyRoutes: ['a'] })).toMatchObject({ routeId: 'b' });
  });

  it('waits, and then asks all again, when those that are left asked for time', () => {
    const waits = { kind: 'wait', ms: 1_000, afresh: true, elsewhere: false };
    expect(plan({ busyRoutes: ['a', 'b'], attempts: 2 })).toEqual(waits);
    expect(plan({ busyRoutes: ['a'], refusedRoutes: ['b'], attempts: 2 })).toEqual(waits);
    const roomOf = (bindId: string) => (bindId === 'bind-a' ? ROOM : null);
    expect(plan({ busyRoutes: ['a'], attempts: 2 }, { capacityOf: roomOf })).toEqual(waits);
  });

  it('is left for other gateways when none of its binds is bound here, and while there is no route', () => {
    const waits = { kind: 'wait', ms: 500, afresh: false, elsewhere: true };
    expect(plan({}, { capacityOf: () => null })).toEqual(waits);
    expect(plan({}, { routes: [] })).toEqual(waits);
    expect(plan({ refusedRoutes: ['a'] }, { capacityOf: () => null })).toEqual(waits);
  });

  it('is left to the gateway that is bound to the better bind', () => {
    const roomOf = (bindId: string) => (bindId === 'bind-b' ? ROOM : null);
    const more = { roomOf, boundElsewhere: (bindId: string) => bindId === 'bind-a' };
    expect(plan({}, more)).toEqual({ kind: 'wait', ms: 50, afresh: false, elsewhere: true });
    expect(plan({ busyRoutes: ['a'] }, more)).toMatchObject({ kind: 'send', routeId: 'b' });
    expect(plan({ refusedRoutes: ['a'] }, more)).toMatchObject({ kind: 'send', routeId: 'b' });
  });

  it('goes by the better bind from here, whoever else is bound to it', () => {
    expect(plan({}, { boundElsewhere: () => true })).toMatchObject({ kind: 'send', routeId: 'a' });
  });

  it('goes the next way when a bind has its hands full, and waits for the first to be free when all have', () => {
    const full = { fullForMs: 120 };
    const roomOf = (bindId: string) => (bindId === 'bind-a' ? full : ROOM);
    expect(plan({}, { capacityOf: roomOf })).toMatchObject({ kind: 'send', routeId: 'b' });
    const waits = { kind: 'wait', ms: 120, afresh: false, elsewhere: false };
    expect(plan({}, { capacityOf: (bindId) => (bindId === 'bind-a' ? full : { fullForMs: 300 }) })).toEqual(waits);
    expect(plan({}, { capacityOf: (bindId) => (bindId === 'bind-a' ? full : null) })).toEqual(waits);
  });

  it('waits longer the more were turned away before it, but never for long', () => {
    const waits = [0, 20, 60, 2_000].map((rejectedConnections) =>
      plan({}, { capacityOf: () => ({ fullForMs: 500 }), deferred: rejectedConnections }),
    );
    expect(waits).toMatchObject([{ ms: 500 }, { ms: 1_000 }, { ms: 2_000 }, { ms: 2_000 }]);
  });

  it('never waits beyond the end of its session', () => {
    expect(plan({ busyRoutes: ['a', 'b'], attempts: 9, ...leftMs(2_000) })).toMatchObject({ ms: 2_000 });
  });

  it.each([
    ['its session is over', { sessionLive: false }, {}, 'SESSION_OVER'],
    ['nobody could use it any more', leftMs(999), {}, 'EXPIRED'],
    ['no route came up in time', leftMs(0), { routes: [] }, 'NO_ROUTE'],
    ['time ran out, with the reason why', { ...leftMs(-5), networkError: 'ESME_RTHROTTLED' }, {}, 'ESME_RTHROTTLED'],
    ['it may have been delivered twice', { unknownFates: 2 }, {}, 'UNKNOWN_FATE'],
    ['every route refused', { refusedRoutes: ['a', 'b'], networkError: 'ESME_RINVDSTADR' }, {}, 'ESME_RINVDSTADR'],
  ])('fails because %s', (_, changes, more, error) => {
    expect(plan(changes, more)).toEqual({ kind: 'fail', error });
  });

  it('is sent once more, and no more, when its fate is unknown', () => {
    expect(plan({ unknownFates: 1 })).toMatchObject({ kind: 'send' });
  });
});

describe('the pause before all routes are asked again', () => {
  it('doubles from half a second to eight', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 20].map((attempts) => backoffMs(attempts, 0.5))).toEqual([
      500, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000,
    ]);
  });

  it('is up to a fifth shorter or longer, by chance', () => {
    expect([backoffMs(5, 0), backoffMs(5, 0.999_999)]).toEqual([6_400, 9_600]);
  });
});
