import { describe, expect, it } from 'vitest';
import { RequestWindow, sequenceAfter } from './window.js';
import type { PendingRequest } from './window.js';

const pending = (dueMs: number, takesSlot = true): PendingRequest => ({
  command: 'submit_sm',
  answeredBy: 'submit_sm_resp',
  takesSlot,
  dueMs,
  resolve: () => undefined,
  reject: () => undefined,
});

describe('the window', () => {
  it('matches an answer by sequence number and command', () => {
    const window = new RequestWindow(2);
    window.open(1, pending(10));
    expect(window.take(1, 'deliver_sm_resp')).toBeUndefined();
    expect(window.take(2, 'submit_sm_resp')).toBeUndefined();
    expect(window.used).toBe(1);
    expect(window.take(1, 'submit_sm_resp')?.dueMs).toBe(10);
    expect(window.take(1, 'submit_sm_resp')).toBeUndefined();
    expect(window.used).toBe(0);
  });

  it('lets generic_nack answer any request', () => {
    const window = new RequestWindow(1);
    window.open(5, pending(10));
    expect(window.take(5, 'generic_nack')?.dueMs).toBe(10);
  });

  it('has room until its slots are taken; requests of the link itself take none', () => {
    const window = new RequestWindow(1);
    window.open(1, pending(10, false));
    expect(window.hasRoom).toBe(true);
    window.open(2, pending(10));
    expect(window.hasRoom).toBe(false);
  });

  it('gives up the overdue ones, oldest first, and says when the next is due', () => {
    const window = new RequestWindow(3);
    [10, 20, 30].forEach((dueMs, i) => window.open(i + 1, pending(dueMs)));
    expect(window.takeOverdue(20).map((request) => request.dueMs)).toEqual([10, 20]);
    expect(window.nextDueMs).toBe(30);
    expect(window.takeAll()).toHaveLength(1);
    expect([window.nextDueMs, window.used]).toEqual([null, 0]);
  });

  it('passes over a sequence number that is still open when they begin again', () => {
    const window = new RequestWindow(3);
    [1, 2].forEach((sequence) => window.open(sequence, pending(10)));
    expect([window.sequenceAfter(0x7fff_ffff), window.sequenceAfter(2)]).toEqual([3, 3]);
    window.take(1, 'submit_sm_resp');
    expect(window.sequenceAfter(0x7fff_ffff)).toBe(1);
  });

  it('counts sequence numbers from 1 to 0x7FFFFFFF and begins again', () => {
    expect([sequenceAfter(0), sequenceAfter(1), sequenceAfter(0x7fff_fffe), sequenceAfter(0x7fff_ffff)]).toEqual([
      1, 2, 0x7fff_ffff, 1,
    ]);
  });
});
