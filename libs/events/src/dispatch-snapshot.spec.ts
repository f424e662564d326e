import { describe, expect, it } from 'vitest';
import { DispatchSnapshot } from './dispatch-snapshot.js';

const T_MS = 1_000_000_000;

describe('the earliest time of a dispatch that a later snapshot shows first', () => {
  const first = DispatchSnapshot.of('10:10:', T_MS, null);

  it('is a second before the snapshot, without a transaction that was open', () => {
    const later = DispatchSnapshot.of('30:30:', T_MS + 60_000, first);
    expect(first.earliestUnseenMs(later)).toBe(T_MS - 1_000);
  });

  it('is before the begin of each transaction that was open and no longer is, since the snapshot that did not know it', () => {
    const second = DispatchSnapshot.of('12:14:12', T_MS + 5_000, first);
    const third = DispatchSnapshot.of('12:16:12,15', T_MS + 9_000, second);
    const open = DispatchSnapshot.of('12:16:12', T_MS + 12_000, third);
    const over = DispatchSnapshot.of('16:16:', T_MS + 15_000, open);
    expect(third.earliestUnseenMs(open)).toBe(T_MS + 5_000 - 1_000);
    expect(third.earliestUnseenMs(over)).toBe(T_MS - 1_000);
    expect(open.earliestUnseenMs(over)).toBe(T_MS - 1_000);
  });

  it('is at most two minutes before the snapshot, and as much if the begin is unknown', () => {
    const unknown = DispatchSnapshot.of('5:20:5', T_MS, null);
    const old = DispatchSnapshot.of('12:14:12', T_MS + 300_000, first);
    const over = DispatchSnapshot.of('30:30:', T_MS + 301_000, old);
    expect(unknown.earliestUnseenMs(over)).toBe(T_MS - 121_000);
    expect(old.earliestUnseenMs(over)).toBe(T_MS + 300_000 - 121_000);
  });
});
