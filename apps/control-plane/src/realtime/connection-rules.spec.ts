import { describe, expect, it } from 'vitest';
import type { Channel } from './channel.js';
import type { ClientFrame } from './client-frame.js';
import {
  judgeFrame,
  judgeSubscribe,
  MAX_CHANNELS,
  messageRate,
  type Listener,
  type ListenerKind,
  type Verdict,
} from './connection-rules.js';

const SESSION: Channel = { kind: 'session', id: 's' };
const OTHER_SESSION: Channel = { kind: 'session', id: 'other' };
const ACCOUNT: Channel = { kind: 'account', id: 'a' };
const OTHER_ACCOUNT: Channel = { kind: 'account', id: 'other' };
const BINDS: Channel = { kind: 'binds' };

const LISTENERS: Readonly<Record<ListenerKind, Listener>> = {
  nobody: { kind: 'nobody' },
  ticket: { kind: 'ticket', sessionId: 's', tenant: { accountId: 'a', mode: 'live' }, keyId: 'k' },
  key: {
    kind: 'key',
    tenant: { accountId: 'a', mode: 'live' },
    keyId: 'k',
    keyDigests: ['d'],
    view: 'full',
    limits: {},
  },
  admin: { kind: 'admin', keyId: 'a', role: 'viewer', keyDigests: ['d'] },
};
const FRAMES: Readonly<Record<ClientFrame['type'], ClientFrame>> = {
  auth: { type: 'auth', id: 1, ticket: 't' },
  subscribe: { type: 'subscribe', id: 1, channel: SESSION },
  unsubscribe: { type: 'unsubscribe', id: 1, channel: SESSION },
  ping: { type: 'ping', id: 1 },
};

describe('a message', () => {
  it.each([
    ['nobody', 'auth', 'handle'],
    ['nobody', 'subscribe', 'UNAUTHORIZED'],
    ['nobody', 'unsubscribe', 'UNAUTHORIZED'],
    ['nobody', 'ping', 'handle'],
    ['ticket', 'auth', 'MALFORMED_REQUEST'],
    ['ticket', 'subscribe', 'handle'],
    ['ticket', 'unsubscribe', 'handle'],
    ['ticket', 'ping', 'handle'],
    ['key', 'auth', 'MALFORMED_REQUEST'],
    ['key', 'subscribe', 'handle'],
    ['key', 'unsubscribe', 'handle'],
    ['key', 'ping', 'handle'],
    ['admin', 'auth', 'MALFORMED_REQUEST'],
    ['admin', 'subscribe', 'handle'],
    ['admin', 'unsubscribe', 'handle'],
    ['admin', 'ping', 'handle'],
  ] as const)('of %s, %s: %s', (listener, type, outcome) => {
    const verdict = judgeFrame(listener, FRAMES[type], 0);
    expect(verdict.kind === 'handle' ? 'handle' : verdict.error.code).toBe(outcome);
  });

  it('that is unreadable is refused, and the third closes the connection', () => {
    const bad = { type: 'bad', id: null, code: 'MALFORMED_REQUEST', broken: true, message: 'no' } as const;
    const closes = [0, 1, 2]
      .map((before) => judgeFrame('key', bad, before))
      .map((verdict) => 'close' in verdict && verdict.close);
    expect(closes).toEqual([null, null, 4400]);
  });

  it('with an unknown channel name is refused without limit and never closes the connection', () => {
    const bad = { type: 'bad', id: 1, code: 'VALIDATION_ERROR', broken: false, message: 'no' } as const;
    expect(judgeFrame('key', bad, 2)).toMatchObject({ kind: 'refuse', close: null, counts: false });
  });
});

describe('a channel', () => {
  it.each([
    ['nobody', SESSION, 'UNAUTHORIZED', null],
    ['ticket', SESSION, null, null],
    ['ticket', OTHER_SESSION, 'FORBIDDEN', 4403],
    ['ticket', ACCOUNT, 'FORBIDDEN', 4403],
    ['ticket', BINDS, 'FORBIDDEN', 4403],
    ['key', SESSION, null, null],
    ['key', OTHER_SESSION, null, null],
    ['key', ACCOUNT, null, null],
    ['key', OTHER_ACCOUNT, 'FORBIDDEN', null],
    ['key', BINDS, 'FORBIDDEN', null],
    ['admin', SESSION, 'FORBIDDEN', null],
    ['admin', ACCOUNT, 'FORBIDDEN', null],
    ['admin', BINDS, null, null],
  ] as const)('to %s, %j: %s, closing with %s', (listener, channel, code, close) => {
    const verdict = judgeSubscribe(LISTENERS[listener], channel, { others: 0, accountHasCapacity: true });
    expect(verdict === null ? null : verdict.kind === 'refuse' && verdict.error.code).toBe(code);
    if (verdict?.kind === 'refuse') expect(verdict.close).toBe(close);
  });

  it('is allowed up to the hundredth, and refused from the next on', () => {
    const judge = (others: number): Verdict | null =>
      judgeSubscribe(LISTENERS.key, SESSION, { others, accountHasCapacity: true });
    expect(judge(MAX_CHANNELS - 1)).toBeNull();
    expect(judge(MAX_CHANNELS)).toMatchObject({ error: { code: 'RATE_LIMITED' }, close: null, counts: false });
  });

  it('is refused without closing the connection when the account has too many subscriptions', () => {
    const verdict = judgeSubscribe(LISTENERS.key, SESSION, { others: 0, accountHasCapacity: false });
    expect(verdict).toMatchObject({ error: { code: 'RATE_LIMITED' }, close: null, counts: false });
  });
});

describe('the rate limit of messages', () => {
  /** How many of the messages at these times are allowed. */
  const allowed = (times: readonly number[]): number => {
    const rate = messageRate(0);
    return times.filter((atMs) => rate.take(atMs)).length;
  };
  const at = (ms: number, count: number): number[] => Array.from({ length: count }, () => ms);

  it('allows a burst of 20', () => {
    expect(allowed(at(0, 21))).toBe(20);
  });

  it('refills one message every 50 ms', () => {
    const steady = Array.from({ length: 200 }, (_, nth) => nth * 50);
    expect(allowed([...at(0, 19), ...steady])).toBe(219);
    expect(allowed([...at(0, 20), 49])).toBe(20);
    expect(allowed([...at(0, 20), ...at(60_000, 21)])).toBe(40);
  });
});
