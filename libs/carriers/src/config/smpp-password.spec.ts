import { SealError, ServerKeys } from '@countersign/keys';
import { describe, expect, it } from 'vitest';
import { bindPassword, sealBindPassword, systemPasswordDigest, systemPasswordMatches } from './smpp-password.js';

const keys = ServerKeys.fromMaster(Buffer.alloc(32, 5));
const ID = '018bcfe5-6800-0000-0000-000000000001';
const OTHER_ID = '018bcfe5-6800-0000-0000-000000000002';

const system = (password: string) => ({ id: ID, passwordDigest: systemPasswordDigest(keys, ID, password) });

describe('passwords of systems that connect in', () => {
  it('matches the right one only', () => {
    expect(systemPasswordMatches(keys, system('secret'), 'secret')).toBe(true);
    expect(systemPasswordMatches(keys, system('secret'), 'Secret')).toBe(false);
    expect(systemPasswordMatches(keys, system('secret'), '')).toBe(false);
  });

  it('matches nothing for an unknown system', () => {
    expect(systemPasswordMatches(keys, null, '')).toBe(false);
    expect(systemPasswordMatches(keys, null, 'secret')).toBe(false);
  });

  it('has different digests for equal passwords of two systems', () => {
    expect(systemPasswordDigest(keys, ID, 'secret')).not.toEqual(systemPasswordDigest(keys, OTHER_ID, 'secret'));
  });
});

describe('passwords of our binds', () => {
  it('opens for its own bind and not for another', () => {
    const passwordSealed = sealBindPassword(keys, ID, 'secret');
    expect(bindPassword(keys, { id: ID, passwordSealed })).toBe('secret');
    expect(() => bindPassword(keys, { id: OTHER_ID, passwordSealed })).toThrow(SealError);
  });
});
