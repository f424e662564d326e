import { describe, expect, it } from 'vitest';
import { ConnectionGauge } from './connection-gauge.js';

const meter = { setPeer: () => undefined, countPdu: () => undefined };
const HOLDER = { events: [], gatewayId: '01890000-0000-7000-8000-000000000001' };
const at = (ms: number): string => new Date(ms).toISOString();
const link = (lastError: string | null) => ({ windowUsed: 0, enquireLinkRttMs: null, lastError });

describe('the errors of a connection', () => {
  it('have their time, and become the previous one with the next bind', () => {
    let nowMs = 1_000;
    const gauge = new ConnectionGauge({ nowMs: () => nowMs }, meter, HOLDER);
    gauge.recordFailure('refused');
    nowMs = 2_000;
    expect(gauge.snapshot(0, null)).toMatchObject({
      lastError: 'refused',
      lastErrorAt: at(1_000),
      previousError: null,
    });
    gauge.setState('bound', 'host:1');
    const previousError = { error: 'refused', at: at(1_000), clearedAt: at(2_000) };
    expect(gauge.snapshot(0, link(null))).toMatchObject({ lastError: null, lastErrorAt: null, previousError });
    nowMs = 3_000;
    gauge.setState('bound', 'host:2');
    expect(gauge.snapshot(0, link(null)).previousError).toEqual(previousError);
  });

  it('of the bound link have the time at which they were first seen', () => {
    let nowMs = 1_000;
    const gauge = new ConnectionGauge({ nowMs: () => nowMs }, meter, HOLDER);
    gauge.setState('bound', 'host:1');
    gauge.snapshot(0, link('malformed'));
    nowMs = 5_000;
    expect(gauge.snapshot(0, link('malformed'))).toMatchObject({ lastError: 'malformed', lastErrorAt: at(1_000) });
    expect(gauge.snapshot(0, link('inactive'))).toMatchObject({ lastError: 'inactive', lastErrorAt: at(5_000) });
  });

  it('and codes without a response are counted since the bind', () => {
    const gauge = new ConnectionGauge({ nowMs: () => 0 }, meter, HOLDER);
    gauge.setState('bound', 'host:1');
    gauge.countUnanswered();
    expect(gauge.snapshot(0, link(null)).unanswered).toBe(1);
    gauge.setState('bound', 'host:1');
    expect(gauge.snapshot(0, link(null)).unanswered).toBe(0);
  });
});
