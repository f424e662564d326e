import { describe, expect, it } from 'vitest';
import { bindStatus, type BindSlot, type ConnectionStatus } from './bind-status.js';

const GATEWAY = '01890000-0000-7000-8000-000000000001';
const BOUND: ConnectionStatus = {
  host: 'smsc.example',
  state: 'bound',
  since: '2026-01-31T12:00:00.000Z',
  windowUsed: 3,
  submitPerSecond: 12.5,
  deliverPerSecond: 2,
  throttled: 1,
  enquireLinkMs: 20,
  reconnects: 4,
  lastError: null,
};
const NEVER = {
  host: null,
  owner: null,
  state: 'unbound',
  since: null,
  windowUsed: 0,
  submitPerSecond: 0,
  deliverPerSecond: 0,
  throttled: 0,
  enquireLinkMs: null,
  reconnects: 0,
  lastError: null,
};

const held = (slot: number, status: Partial<ConnectionStatus> | null = BOUND): BindSlot => ({
  slot,
  owner: GATEWAY,
  held: true,
  heldUntil: '2026-01-31T13:00:00.000Z',
  status,
});
const A = { host: 'a.example', port: 2775 };
const B = { host: 'b.example', port: 2775 };
const two = { enabled: true, connections: 2, hosts: [A], outbind: null };

describe('the status of a bind', () => {
  it.each([
    ['bound', [held(0), held(1)]],
    ['degraded', [held(0), held(1, { ...BOUND, state: 'standoff' })]],
    ['degraded', [held(1)]],
    ['degraded', [held(0), { ...held(1), held: false }]],
    ['unbound', [held(0, { ...BOUND, state: 'binding' }), held(1, { ...BOUND, state: 'draining' })]],
    ['unbound', [held(2)]],
    ['unbound', []],
  ] as const)('is %s by its wanted connections', (state, slots) => {
    expect(bindStatus(two, slots).state).toBe(state);
  });

  it.each([
    ['bound', ['a.example:2775', 'b.example:2775']],
    ['bound', ['b.example:2775', 'a.example:2775']],
    ['degraded', ['b.example:2775', 'b.example:2775']],
    ['bound', ['b.example:2775', 'b.example:2775', 'a.example:2775']],
    ['bound', ['b.example:2775']],
  ] as const)('is %s with connections to %s of two hosts', (state, hosts) => {
    const slots = hosts.map((host, slot) => held(slot, { ...BOUND, host }));
    expect(bindStatus({ enabled: true, connections: hosts.length, hosts: [A, B], outbind: null }, slots).state).toBe(
      state,
    );
  });

  it('counts a host that is listed twice once', () => {
    expect(bindStatus({ ...two, hosts: [A, A] }, [held(0), held(1)]).state).toBe('bound');
  });

  it('is disabled whatever the state of its connections', () => {
    expect(bindStatus({ ...two, enabled: false }, [held(0), held(1)]).state).toBe('disabled');
  });

  it("shows the owner's last status of a connection", () => {
    expect(bindStatus(two, [held(1)]).connections).toEqual([NEVER, { ...BOUND, owner: GATEWAY }]);
  });

  it('shows an unwanted connection as long as it is held', () => {
    const slots = [held(0), held(1), held(2), { ...held(3), held: false }];
    expect(bindStatus(two, slots).connections.map(({ owner }) => owner)).toEqual([GATEWAY, GATEWAY, GATEWAY]);
  });

  it('shows only host, reconnects and error of a connection with an expired lease', () => {
    const over = { ...held(0, { ...BOUND, lastError: 'closed by the carrier' }), held: false };
    expect(bindStatus({ enabled: true, connections: 1, hosts: [A], outbind: null }, [over]).connections).toEqual([
      {
        ...NEVER,
        host: 'smsc.example',
        since: '2026-01-31T13:00:00.000Z',
        reconnects: 4,
        lastError: 'closed by the carrier',
      },
    ]);
  });

  it('uses defaults for fields that a gateway omits', () => {
    const slots = [held(0, null), held(1, { state: 'bound' })];
    expect(bindStatus(two, slots).connections).toEqual([
      { ...NEVER, owner: GATEWAY },
      { ...NEVER, owner: GATEWAY, state: 'bound' },
    ]);
  });

  it.each([5, 'x', null, [], true, { state: 'flying', since: 'x', windowUsed: -1, enquireLinkMs: '1', lastError: {} }])(
    'uses defaults where the stored status is no status: %j',
    (status) => {
      const slots = [
        { ...held(0), status },
        { ...held(1), status, held: false, heldUntil: '0001-01-01T00:00:00+00:00 BC' },
      ];
      expect(bindStatus(two, slots).connections).toEqual([{ ...NEVER, owner: GATEWAY }, NEVER]);
    },
  );

  it('keeps the fields of a stored status that are such, beside those that are not', () => {
    const status = { ...BOUND, since: '10000-01-01T00:00:00Z', throttled: 'x', more: 1 };
    expect(bindStatus(two, [{ ...held(0), status }]).connections[0]).toEqual({
      ...BOUND,
      since: null,
      throttled: 0,
      owner: GATEWAY,
    });
  });
});
