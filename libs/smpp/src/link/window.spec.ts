import { describe, expect, it } from 'vitest';
import { RequestWindow, sequenceAfter } from './window.js';
import type { PendingRequest } from './window.js';

const pending = (dueMs: number, usesSlot = true): PendingRequest => ({
  command: 'submit_sm',
  answeredBy: 'submit_sm_resp',
  usesSlot,
  dueMs,
  resolve: () => undefined,
  reject: () => undefined,
});

describe('the window', () => {
  it('matches a response by sequence number and command', () => {
    const window = new RequestWindow(2);
    window.open(1, pending(10));
    expect(window.removeAnswered(1, 'deliver_sm_resp')).toBeUndefined();
    expect(window.removeAnswered(2, 'submit_sm_resp')).toBeUndefined();
    expect(window.used).toBe(1);
    expect(window.removeAnswered(1, 'submit_sm_resp')?.dueMs).toBe(10);
    expect(window.removeAnswered(1, 'submit_sm_resp')).toBeUndefined();
    expect(window.used).toBe(0);
  });

  it('lets generic_nack answer any request', () => {
    const window = new RequestWindow(1);
    window.open(5, pending(10));
    expect(window.removeAnswered(5, 'generic_nack')?.dueMs).toBe(10);
  });

  it('lets the response of any bind answer a bind, and no other request', () => {
    const window = new RequestWindow(1);
    for (const answer of ['bind_receiver_resp', 'bind_transmitter_resp', 'bind_transceiver_resp'] as const) {
      window.open(1, { ...pending(10, false), command: 'bind_receiver', answeredBy: 'bind_receiver_resp' });
      expect(window.removeAnswered(1, 'submit_sm_resp')).toBeUndefined();
      expect(window.removeAnswered(1, answer)?.dueMs).toBe(10);
    }
    window.open(2, pending(10));
    expect(window.removeAnswered(2, 'bind_receiver_resp')).toBeUndefined();
  });

  it('has a free slot until all are used; requests of the link itself use none', () => {
    const window = new RequestWindow(1);
    window.open(1, pending(10, false));
    expect(window.hasFreeSlot).toBe(true);
    window.open(2, pending(10));
    expect(window.hasFreeSlot).toBe(false);
  });

  it('removes overdue requests, oldest first, and reports the next deadline', () => {
    const window = new RequestWindow(3);
    [10, 20, 30].forEach((dueMs, i) => window.open(i + 1, pending(dueMs)));
    expect(window.removeOverdue(20).map((request) => request.dueMs)).toEqual([10, 20]);
    expect(window.nextDueMs).toBe(30);
    expect(window.removeAll()).toHaveLength(1);
    expect([window.nextDueMs, window.used]).toEqual([null, 0]);
  });

  it('skips a sequence number that is still in use after the numbers wrap', () => {
    const window = new RequestWindow(3, 0x7fff_fffe);
    [1, 2].forEach((sequence) => window.open(sequence, pending(10)));
    expect([window.nextSequence(), window.nextSequence(), window.nextSequence()]).toEqual([0x7fff_ffff, 3, 4]);
    const wrapped = new RequestWindow(3, 0x7fff_ffff);
    [1, 2].forEach((sequence) => wrapped.open(sequence, pending(10)));
    wrapped.removeAnswered(1, 'submit_sm_resp');
    expect(wrapped.nextSequence()).toBe(1);
  });

  it('counts sequence numbers from 1 to 0x7FFFFFFF and wraps', () => {
    expect([sequenceAfter(0), sequenceAfter(1), sequenceAfter(0x7fff_fffe), sequenceAfter(0x7fff_ffff)]).toEqual([
      1, 2, 0x7fff_ffff, 1,
    ]);
  });
});
