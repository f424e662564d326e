import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createApiKey, createWebhookSecret, parseApiKey, type ApiKeyKind } from './index.js';

const KINDS: readonly ApiKeyKind[] = ['live', 'test', 'admin'];

describe('API keys', () => {
  it.each([
    ['csk_live_0123456789ABCDEFGHIJKLMNOPQRSTUV0OXxad', { kind: 'live', prefix: 'csk_live_0123' }],
    ['csk_admin_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz45cut1', { kind: 'admin', prefix: 'csk_admin_zzzz' }],
    ['csk_test_000000000000000000000000000000001d4oM9', { kind: 'test', prefix: 'csk_test_0000' }],
  ])('%s is a key (vectors of another implementation)', (key, parsed) => {
    expect(parseApiKey(key)).toEqual(parsed);
  });

  it.each(KINDS)('a new %s key is valid, and all are different', (kind) => {
    const created = Array.from({ length: 200 }, () => createApiKey(kind));
    expect(new Set(created).size).toBe(created.length);
    for (const key of created) {
      expect(key).toMatch(new RegExp(`^csk_${kind}_[0-9A-Za-z]{38}$`));
      expect(parseApiKey(key)).toEqual({ kind, prefix: key.slice(0, `csk_${kind}_`.length + 4) });
    }
  });

  it('a changed character is detected by the checksum', () => {
    const key = createApiKey('live');
    for (let index = 'csk_live_'.length; index < key.length; index += 1) {
      const other = key.charAt(index) === 'x' ? 'y' : 'x';
      expect(parseApiKey(key.slice(0, index) + other + key.slice(index + 1))).toBeNull();
    }
  });

  it.each(['', 'csk_live_', 'Bearer csk_live_0123456789ABCDEFGHIJKLMNOPQRSTUV0OXxad', 'csk_root_0123'])(
    '"%s" is not a key',
    (text) => expect(parseApiKey(text)).toBeNull(),
  );

  it('any text gives a key or null, never an exception', () => {
    fc.assert(fc.property(fc.string(), (text) => parseApiKey(text) === null));
    const key = createApiKey('live');
    expect(parseApiKey(`${key}\n`)).toBeNull();
  });
});

describe('webhook secrets', () => {
  it('are whsec_ and the base64 of 32 octets', () => {
    const secret = createWebhookSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
    expect(createWebhookSecret()).not.toBe(secret);
  });
});
