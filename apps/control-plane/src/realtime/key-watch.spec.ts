import type { LiveKey } from '@countersign/accounts';
import { describe, expect, it } from 'vitest';
import type { Listener } from './connection-rules.js';
import { judgeKey } from './key-watch.js';

const KEY: Listener = { kind: 'key', tenant: { accountId: 'a', mode: 'live' }, keyId: 'k', keyDigests: ['d'] };
const TICKET: Listener = { kind: 'ticket', tenant: { accountId: 'a', mode: 'live' }, sessionId: 's', keyId: 'k' };

const key = (scopes: LiveKey['scopes'], digest = 'd'): LiveKey => ({ scopes, digest });

describe('a connection whose key', () => {
  it.each([
    ['is as it was', KEY, key(['realtime']), null],
    ['lost the scope', KEY, key(['verify']), 4403],
    ['was rotated', KEY, key(['realtime'], 'other'), 4401],
    ['was revoked', KEY, undefined, 4401],
    ['asked for its ticket and is as it was', TICKET, key(['verify']), null],
    ['asked for its ticket and was rotated', TICKET, key(['verify'], 'other'), null],
    ['asked for its ticket and lost the scope', TICKET, key(['realtime']), 4403],
    ['asked for its ticket and was revoked', TICKET, undefined, 4401],
    ['is none yet', { kind: 'nobody' }, undefined, null],
    ['is the engineers’', { kind: 'admin' }, undefined, null],
  ] as const)('%s, is closed or not: %j %j %s', (_what, listener, live, code) => {
    expect(judgeKey(listener, live)).toBe(code);
  });
});
