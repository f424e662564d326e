import { LEASE_SECONDS } from '@countersign/carriers/leases';
import { describe, expect, it } from 'vitest';
import { HELD_FOR_MS, LeaseGuard, RENEW_EVERY_MS } from './lease-guard.js';

const LEASE = { bindId: 'b', slot: 0, owner: 'gw', epoch: '1' };
/** Limit of a statement, including its wait for a connection and its retries (libs/postgres). */
const OPERATION_MS = 2_900;

describe('the lease guard', () => {
  it('holds for ten seconds from the time at which the claim was sent', () => {
    const guard = new LeaseGuard(LEASE, 1_000);
    expect([guard.isHeld(1_000), guard.isHeld(10_999), guard.isHeld(11_000)]).toEqual([true, true, false]);
  });

  it('is extended from the start of each successful renewal, and never shortened', () => {
    const guard = new LeaseGuard(LEASE, 0);
    guard.extend(5_000);
    expect(guard.heldUntilMs).toBe(15_000);
    guard.extend(1_000);
    expect(guard.heldUntilMs).toBe(15_000);
  });

  it('stays invalid when the response to an earlier renewal arrives late', () => {
    const guard = new LeaseGuard(LEASE, 0);
    guard.invalidate();
    guard.extend(5_000);
    expect(guard.isHeld(5_000)).toBe(false);
  });

  it('expires early enough for a started operation to end before another gateway can claim the lease', () => {
    expect(LEASE_SECONDS * 1_000 - HELD_FOR_MS).toBeGreaterThan(OPERATION_MS);
    expect(HELD_FOR_MS - RENEW_EVERY_MS).toBeGreaterThan(OPERATION_MS);
  });
});
