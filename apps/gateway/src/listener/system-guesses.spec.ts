import { beforeEach, describe, expect, it } from 'vitest';
import { FAILURE_WINDOW_MS } from './bind-lockout.js';
import { BETWEEN_COMPARISONS_MS, KNOWN_PEER_MS, MAX_SYSTEM_FAILURES, SystemGuesses } from './system-guesses.js';

const NORTH = { id: '018f0000-0000-7000-8000-000000000001', passwordDigest: Buffer.from('one'), digestVersion: 1 };
const SOUTH = { id: '018f0000-0000-7000-8000-000000000002', passwordDigest: Buffer.from('one'), digestVersion: 1 };
const KNOWN = '192.0.2.7';
const ELSEWHERE = '198.51.100.1';

let nowMs: number;
let guesses: SystemGuesses;
beforeEach(() => {
  nowMs = 0;
  guesses = new SystemGuesses(() => nowMs);
});

/** Records as many wrong passwords as guard the system; returns the results of `recordFailure`. */
const attack = (system = NORTH): boolean[] =>
  Array.from({ length: MAX_SYSTEM_FAILURES }, () => guesses.recordFailure(system));

describe('wrong passwords of one system', () => {
  it('guard the system from the twentieth on, and no other system', () => {
    expect(attack()).toEqual([...Array.from({ length: MAX_SYSTEM_FAILURES - 1 }, () => false), true]);
    expect([guesses.mayComparePassword(NORTH, ELSEWHERE), guesses.mayComparePassword(NORTH, ELSEWHERE)]).toEqual([
      true,
      false,
    ]);
    expect([guesses.mayComparePassword(SOUTH, ELSEWHERE), guesses.mayComparePassword(SOUTH, ELSEWHERE)]).toEqual([
      true,
      true,
    ]);
  });

  it('limit comparisons to one per ten seconds over all unknown peers', () => {
    attack();
    let compared = 0;
    for (let peer = 0; peer < 3_000; peer += 1) {
      nowMs = peer * 20;
      if (guesses.mayComparePassword(NORTH, `10.0.${peer >> 8}.${peer & 255}`)) compared += 1;
    }
    expect(compared).toBe(60_000 / BETWEEN_COMPARISONS_MS);
  });

  it('do not affect a peer from which the system was connected within a day, in any spelling of its address', () => {
    guesses.recordBind(NORTH, KNOWN);
    nowMs = 10 * KNOWN_PEER_MS;
    guesses.recordDisconnect(NORTH, `::ffff:${KNOWN}`);
    nowMs += KNOWN_PEER_MS - 1;
    attack();
    expect(guesses.mayComparePassword(NORTH, ELSEWHERE)).toBe(true);
    for (let bind = 0; bind < 5; bind += 1) expect(guesses.mayComparePassword(NORTH, KNOWN)).toBe(true);
    nowMs += 1;
    expect(guesses.mayComparePassword(NORTH, KNOWN)).toBe(false);
  });

  it('expire after ten minutes', () => {
    attack();
    guesses.mayComparePassword(NORTH, ELSEWHERE);
    nowMs = FAILURE_WINDOW_MS - 1;
    expect([guesses.mayComparePassword(NORTH, ELSEWHERE), guesses.mayComparePassword(NORTH, ELSEWHERE)]).toEqual([
      true,
      false,
    ]);
    nowMs = FAILURE_WINDOW_MS;
    expect([guesses.mayComparePassword(NORTH, ELSEWHERE), guesses.mayComparePassword(NORTH, ELSEWHERE)]).toEqual([
      true,
      true,
    ]);
  });

  it('restart with another password, for which every peer is unknown, also one that disconnects after the change', () => {
    guesses.recordBind(NORTH, KNOWN);
    const rotated = { ...NORTH, passwordDigest: Buffer.from('two') };
    attack(rotated);
    guesses.recordDisconnect(NORTH, KNOWN);
    expect([guesses.mayComparePassword(rotated, KNOWN), guesses.mayComparePassword(rotated, KNOWN)]).toEqual([
      true,
      false,
    ]);
  });

  it('keep at most a hundred known peers of a system', () => {
    guesses.recordBind(NORTH, KNOWN);
    for (let peer = 0; peer < 100; peer += 1) guesses.recordBind(NORTH, `10.0.0.${peer}`);
    attack();
    expect([guesses.mayComparePassword(NORTH, KNOWN), guesses.mayComparePassword(NORTH, KNOWN)]).toEqual([true, false]);
    expect(guesses.mayComparePassword(NORTH, '10.0.0.0')).toBe(true);
  });

  it('and known peers are kept when the digest is renewed under another version of the master key', () => {
    const renewed = { ...NORTH, passwordDigest: Buffer.from('two'), digestVersion: 2 };
    guesses.recordBind(NORTH, KNOWN);
    attack(NORTH);
    expect(guesses.recordFailure(renewed)).toBe(true);
    guesses.recordDisconnect(NORTH, KNOWN);
    expect([guesses.mayComparePassword(renewed, ELSEWHERE), guesses.mayComparePassword(renewed, ELSEWHERE)]).toEqual([
      true,
      false,
    ]);
    expect(guesses.mayComparePassword(renewed, KNOWN)).toBe(true);
    const changed = { ...renewed, passwordDigest: Buffer.from('three') };
    attack(changed);
    guesses.recordDisconnect(renewed, KNOWN);
    expect([guesses.mayComparePassword(changed, KNOWN), guesses.mayComparePassword(changed, KNOWN)]).toEqual([
      true,
      false,
    ]);
  });
});
