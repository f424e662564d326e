import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UnbindSequence } from './unbind-sequence.js';

const PEER_END_WAIT_MS = 5_000;

let open: { inbound: number; window: number };
let done: string[];
let sequence: UnbindSequence;

beforeEach(() => {
  vi.useFakeTimers();
  open = { inbound: 1, window: 0 };
  done = [];
  sequence = new UnbindSequence({
    inboundIsEmpty: () => open.inbound === 0,
    windowIsEmpty: () => open.window === 0,
    sendUnbind: ({ reject }) => {
      done.push('unbind');
      failUnbind = reject;
    },
    answerUnbind: (number) => done.push(`answer ${number}`),
    close: (reason) => {
      sequence.stop();
      done.push(reason);
    },
  });
});
afterEach(() => vi.useRealTimers());

let failUnbind: (error: Error) => void = () => undefined;

describe('a peer that closes its sending side', () => {
  it('is waited for until its messages are answered', () => {
    sequence.peerClosed();
    sequence.advance();
    expect(done).toEqual([]);
    open.inbound = 0;
    sequence.advance();
    expect(done).toEqual(['the peer closed the connection']);
  });

  it('is waited for a limited time', () => {
    sequence.peerClosed();
    vi.advanceTimersByTime(PEER_END_WAIT_MS - 1);
    expect(done).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(done).toEqual(['the peer closed the connection']);
  });

  it('after its unbind gets the response to that', () => {
    sequence.peerRequested(9);
    sequence.peerClosed();
    open.inbound = 0;
    sequence.advance();
    expect(done).toEqual(['answer 9', 'the peer unbound']);
  });

  it('after our unbind gets the answers to its messages, although our unbind has failed', () => {
    sequence.begin(1_000);
    sequence.peerClosed();
    failUnbind(new Error('the link closed'));
    expect(done).toEqual(['unbind']);
    open.inbound = 0;
    sequence.advance();
    expect(done).toEqual(['unbind', 'the peer closed the connection']);
  });
});
