import { beforeEach, describe, expect, it } from 'vitest';
import { FAILURE_WINDOW_MS } from './bind-lockout.js';
import { BETWEEN_COMPARISONS_MS, KNOWN_PEER_MS, MAX_SYSTEM_FAILURES, SystemGuesses } from './system-guesses.js';

const NORTH = { id: '018f0000-0000-7000-8000-000000000001', passwordDigest: Buffer.from('one'), digestVersion: 1 };
const SOUTH = { id: '018f0000-0000-7000-8000-000000000002', passwordDigest: Buffer.from('one'), digestVersion: 1 };
const HOME = '192.0.2.7';
const ELSEWHERE = '198.51.100.1';

let nowMs: number;
let guesses: SystemGuesses;
beforeEach(() => {
  nowMs = 0;
  guesses = new SystemGuesses(() => nowMs);
});

/** As many wrong passwords as guard the system; the last answer is that of `count`. */
const attack = (system = NORTH): boolean[] =>
  Array.from({ length: MAX_SYSTEM_FAILURES }, () => guesses.recordFailure(system));

describe('guesses of the password of one system', () => {
  it('guard it from the twentieth on, and no other', () => {
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

  it('are compared once in ten seconds for all unknown peers together', () => {
    attack();
    let compared = 0;
    for (let peer = 0; peer < 3_000; peer += 1) {
      nowMs = peer * 20;
      if (guesses.mayComparePassword(NORTH, `10.0.${peer >> 8}.${peer & 255}`)) compared += 1;
    }
    expect(compared).toBe(60_000 / BETWEEN_COMPARISONS_MS);
  });

  it('do not hinder a peer that the system was connected from within a day, however it spells its address', () => {
    guesses.recordBind(NORTH, HOME);
    nowMs = 10 * KNOWN_PEER_MS;
    guesses.recordDisconnect(NORTH, `::ffff:${HOME}`);
    nowMs += KNOWN_PEER_MS - 1;
    attack();
    expect(guesses.mayComparePassword(NORTH, ELSEWHERE)).toBe(true);
    for (let bind = 0; bind < 5; bind += 1) expect(guesses.mayComparePassword(NORTH, HOME)).toBe(true);
    nowMs += 1;
    expect(guesses.mayComparePassword(NORTH, HOME)).toBe(false);
  });

  it('are forgotten ten minutes after each', () => {
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

  it('are forgiven, and known peers are not forgotten by it', () => {
    guesses.recordBind(NORTH, HOME);
    attack();
    guesses.clearFailures();
    expect([guesses.mayComparePassword(NORTH, ELSEWHERE), guesses.mayComparePassword(NORTH, ELSEWHERE)]).toEqual([
      true,
      true,
    ]);
    attack();
    expect([guesses.mayComparePassword(NORTH, ELSEWHERE), guesses.mayComparePassword(NORTH, ELSEWHERE)]).toEqual([
      true,
      false,
    ]);
    expect(guesses.mayComparePassword(NORTH, HOME)).toBe(true);
  });

  it('count anew with another password, under which every peer is unknown, one that leaves after it too', () => {
    guesses.recordBind(NORTH, HOME);
    const rotated = { ...NORTH, passwordDigest: Buffer.from('two') };
    attack(rotated);
    guesses.recordDisconnect(NORTH, HOME);
    expect([guesses.mayComparePassword(rotated, HOME), guesses.mayComparePassword(rotated, HOME)]).toEqual([
      true,
      false,
    ]);
  });

  it('know a hundred peers of a system, not more', () => {
    guesses.recordBind(NORTH, HOME);
    for (let peer = 0; peer < 100; peer += 1) guesses.recordBind(NORTH, `10.0.0.${peer}`);
    attack();
    expect([guesses.mayComparePassword(NORTH, HOME), guesses.mayComparePassword(NORTH, HOME)]).toEqual([true, false]);
    expect(guesses.mayComparePassword(NORTH, '10.0.0.0')).toBe(true);
  });

  it('keep failures and known peers when the digest is renewed under another version of the master key', () => {
    const renewed = { ...NORTH, passwordDigest: Buffer.from('two'), digestVersion: 2 };
    guesses.recordBind(NORTH, HOME);
    attack(NORTH);
    expect(guesses.recordFailure(renewed)).toBe(true);
    guesses.recordDisconnect(NORTH, HOME);
    expect([guesses.mayComparePassword(renewed, ELSEWHERE), guesses.mayComparePassword(renewed, ELSEWHERE)]).toEqual([
      true,
      false,
    ]);
    expect(guesses.mayComparePassword(renewed, HOME)).toBe(true);
    const changed = { ...renewed, passwordDigest: Buffer.from('three') };
    attack(changed);
    guesses.recordDisconnect(renewed, HOME);
    expect([guesses.mayComparePassword(changed, HOME), guesses.mayComparePassword(changed, HOME)]).toEqual([
      true,
      false,
    ]);
  });
});
