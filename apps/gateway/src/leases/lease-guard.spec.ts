import { LEASE_SECONDS } from '@countersign/carriers/leases';
import { describe, expect, it } from 'vitest';
import { HELD_FOR_MS, LeaseGuard, RENEW_EVERY_MS } from './lease-guard.js';

const LEASE = { bindId: 'b', slot: 0, owner: 'gw', epoch: '1' };
/** A statement, its wait for a connection and its retries included, is answered within this time (libs/postgres). */
const OPERATION_MS = 2_900;

describe('what a gateway knows of its own lease', () => {
  it('holds for ten seconds from the moment at which the claim was sent', () => {
    const guard = new LeaseGuard(LEASE, 1_000);
    expect([guard.isHeld(1_000), guard.isHeld(10_999), guard.isHeld(11_000)]).toEqual([true, true, false]);
  });

  it('is counted anew from the start of each renewal that went well, never back', () => {
    const guard = new LeaseGuard(LEASE, 0);
    guard.extend(5_000);
    expect(guard.heldUntilMs).toBe(15_000);
    guard.extend(1_000);
    expect(guard.heldUntilMs).toBe(15_000);
  });

  it('does not come back once it was given up, though an older renewal is answered late', () => {
    const guard = new LeaseGuard(LEASE, 0);
    guard.invalidate();
    guard.extend(5_000);
    expect(guard.isHeld(5_000)).toBe(false);
  });

  it('ends early enough for what was begun under it to end before another gateway may take it', () => {
    expect(LEASE_SECONDS * 1_000 - HELD_FOR_MS).toBeGreaterThan(OPERATION_MS);
    expect(HELD_FOR_MS - RENEW_EVERY_MS).toBeGreaterThan(OPERATION_MS);
  });
});
