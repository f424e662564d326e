import { randomBytes } from 'node:crypto';
import { ServerKeys } from '@countersign/keys';
import type { Executor } from '@countersign/postgres';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConsoleSessionStore } from './console-session.store.js';
import { isSessionCookie, newSessionCookie } from './session-cookie.js';

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const keys = ServerKeys.fromMaster(OLD);

describe('the cookie of a session', () => {
  it('has 43 characters, and is always another', () => {
    const cookies = Array.from({ length: 100 }, () => newSessionCookie(keys));
    for (const cookie of cookies) expect(cookie).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(new Set(cookies).size).toBe(100);
  });

  it('is known under each version of the master key, and under no other key', () => {
    const cookie = newSessionCookie(keys);
    const ring = new Map([
      [2, NEW],
      [1, OLD],
    ]);
    expect(isSessionCookie(keys, cookie)).toBe(true);
    expect(isSessionCookie(ServerKeys.fromRing(ring), cookie)).toBe(true);
    expect(isSessionCookie(ServerKeys.fromRing(new Map([[2, NEW]])), cookie)).toBe(false);
  });

  it('that differs in a bit, or is any other text, costs no statement', async () => {
    const statements: string[] = [];
    const database: Executor = {
      query: (statement: string) => {
        statements.push(statement);
        return Promise.resolve([]);
      },
    };
    const sessions = new ConsoleSessionStore({ keys, newId: () => '' }, { adminKey: 'root' });
    const cookie = newSessionCookie(keys);
    const changed = fc.nat({ max: 255 }).map((bit) => {
      const octets = Buffer.from(cookie, 'base64url');
      octets.writeUInt8(octets.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      return octets.toString('base64url');
    });
    const random = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((all) => Buffer.from(all).toString('base64url'));
    await fc.assert(
      fc.asyncProperty(fc.oneof(changed, random, fc.string({ maxLength: 100 })), async (text) => {
        expect(await sessions.find(database, text)).toBeNull();
      }),
    );
    expect(statements).toEqual([]);
    await sessions.find(database, cookie);
    expect(statements).toHaveLength(1);
  });
});
