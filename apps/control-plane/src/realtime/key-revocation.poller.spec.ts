import type { LiveKey } from '@countersign/accounts/accounts';
import { describe, expect, it } from 'vitest';
import type { Listener } from './connection-rules.js';
import { judgeAdminKey, judgeKey } from './key-revocation.poller.js';

const KEY: Listener = {
  kind: 'key',
  tenant: { accountId: 'a', mode: 'live' },
  keyId: 'k',
  keyDigests: ['d'],
  view: 'full',
  limits: {},
};
const REDUCED: Listener = { ...KEY, view: 'reduced_key' };
const TICKET: Listener = { kind: 'ticket', tenant: { accountId: 'a', mode: 'live' }, sessionId: 's', keyId: 'k' };

const ADMIN: Listener = { kind: 'admin', keyId: 'k', role: 'operator', keyDigests: ['d'] };
const ROOT: Listener = { kind: 'admin', keyId: null, role: 'owner', keyDigests: ['d'] };

const key = (scopes: LiveKey['scopes'], digest = 'd'): LiveKey => ({ scopes, digest });

describe('a connection whose key', () => {
  it.each([
    ['is unchanged', KEY, key(['realtime', 'verify']), null],
    ['never had the scope for whole sessions', REDUCED, key(['realtime']), null],
    ['lost the scope for whole sessions', KEY, key(['realtime']), 4403],
    ['lost the scope', KEY, key(['verify']), 4403],
    ['was rotated', KEY, key(['realtime', 'verify'], 'other'), 4401],
    ['was revoked', KEY, undefined, 4401],
    ['issued its ticket and is unchanged', TICKET, key(['verify']), null],
    ['issued its ticket and was rotated', TICKET, key(['verify'], 'other'), null],
    ['issued its ticket and lost the scope', TICKET, key(['realtime']), 4403],
    ['issued its ticket and was revoked', TICKET, undefined, 4401],
    ['does not exist yet', { kind: 'nobody' }, undefined, null],
    ['is an admin key', ADMIN, undefined, null],
  ] as const)('%s, is closed or not: %j %j %s', (_what, listener, live, code) => {
    expect(judgeKey(listener, live)).toBe(code);
  });
});

describe('a connection whose admin key', () => {
  it.each([
    ['is unchanged', ADMIN, { digest: 'd', role: 'operator' }, null],
    ['was rotated', ADMIN, { digest: 'other', role: 'operator' }, 4401],
    ['has another role', ADMIN, { digest: 'd', role: 'viewer' }, 4403],
    ['was revoked', ADMIN, undefined, 4401],
    ['is that of the environment', ROOT, undefined, null],
    ['is the key of an account', KEY, undefined, null],
  ] as const)('%s, is closed or not: %j %j %s', (_what, listener, live, code) => {
    expect(judgeAdminKey(listener, live)).toBe(code);
  });
});
