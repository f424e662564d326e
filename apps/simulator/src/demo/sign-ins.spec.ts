import { describe, expect, it } from 'vitest';
import { type SignIn, SignIns } from './sign-ins.js';

const ALICE: SignIn = { phone: '+14155552671', proof: 'card', latencyMs: 2_000 };
const BOB: SignIn = { phone: '+14155552672', proof: 'code', latencyMs: null };

const cookieOf = (header: string): string => header.split(';')[0] ?? '';

describe('the sign-in of a browser', () => {
  it('is known by a cookie that no script reads and no other site sends', () => {
    const visits = new SignIns(2);
    const header = visits.add(ALICE);
    expect(header).toMatch(/^acme_visit=[\w-]{32}; Path=\/demo; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    expect(visits.find(`theme=dark; ${cookieOf(header)}`)).toEqual(ALICE);
  });

  it('is null without a cookie, or with another', () => {
    const visits = new SignIns(2);
    visits.add(ALICE);
    expect(visits.find(undefined)).toBeNull();
    expect(visits.find('acme_visit=')).toBeNull();
    expect(visits.find('acme_visit=guess')).toBeNull();
  });

  it('leaves for good', () => {
    const visits = new SignIns(2);
    const cookie = cookieOf(visits.add(ALICE));
    expect(visits.remove(cookie)).toContain('Max-Age=0');
    expect(visits.find(cookie)).toBeNull();
  });

  it('are at most so many: the oldest goes', () => {
    const visits = new SignIns(1);
    const alice = cookieOf(visits.add(ALICE));
    const bob = cookieOf(visits.add(BOB));
    expect(visits.find(alice)).toBeNull();
    expect(visits.find(bob)).toEqual(BOB);
  });
});
