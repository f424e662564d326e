import { describe, expect, it } from 'vitest';
import type { Listener } from './connection-rules.js';
import { judgeSession } from './console-session.poller.js';

const session = { id: 's', role: 'viewer' } as const;
const ENGINEER: Listener = { kind: 'admin', keyId: 'k', role: 'viewer', keyDigests: [], session };
const MEMBER: Listener = {
  ...{ kind: 'key', tenant: { accountId: 'a', mode: 'live' }, keyId: 'm', keyDigests: [], view: 'masked', limits: {} },
  session,
};

describe('a connection whose session of the console', () => {
  it.each([
    ['is valid', ENGINEER, 'viewer', null],
    ['is that of a member and valid', MEMBER, 'viewer', null],
    ['has ended', ENGINEER, undefined, 4401],
    ['is that of a member and has ended', MEMBER, undefined, 4401],
    ['has more rights now', ENGINEER, 'owner', 4401],
    ['has others now', MEMBER, 'developer', 4401],
    ['is none, but an admin key', { kind: 'admin', keyId: 'k', role: 'viewer', keyDigests: ['d'] }, undefined, null],
    [
      'is none, but a ticket',
      { kind: 'ticket', tenant: { accountId: 'a', mode: 'live' }, sessionId: 's', keyId: 'k' },
      undefined,
      null,
    ],
    ['is none yet', { kind: 'nobody' }, undefined, null],
  ] as const)('%s, is closed or not', (_what, listener, role, code) => {
    expect(judgeSession(listener, role)).toBe(code);
  });
});
