import { idOf } from '@countersign/ids';
import { describe, expect, it } from 'vitest';
import { dayStatement, onDays } from './day-statements.js';

const TODAY_MS = Date.UTC(2026, 10, 27, 12);
const DAY_MS = 86_400_000;
const idAt = (ms: number): string => idOf(ms, new Uint8Array(10));
const today = idAt(TODAY_MS);

const FIND = onDays('sessions', [1, 2], (sessions) => `SELECT FROM ${sessions} WHERE id = ANY ($1) AND id >= $2`);

const partitionFor = (...values: unknown[]): string | undefined => dayStatement(FIND, values, TODAY_MS)?.partition;

describe('a statement on rows of a day', () => {
  it('names the table where it is not run for a day', () => {
    expect(FIND).toBe('SELECT FROM sessions WHERE id = ANY ($1) AND id >= $2');
  });

  it('names the partition of the day of all ids, with the alias of the table', () => {
    const found = dayStatement(FIND, [[today, idAt(TODAY_MS + 3_600_000)], today], TODAY_MS);
    expect(found?.text).toBe('SELECT FROM sessions_p20261127 AS sessions WHERE id = ANY ($1) AND id >= $2');
    expect(found?.name).toMatch(/^cs_[0-9a-f]{16}$/);
    expect(dayStatement(FIND, [[today], today], TODAY_MS)).toBe(found);
  });

  it.each([-1, 1])('names partitions of the days next to today: %i', (days) => {
    const id = idAt(TODAY_MS + days * DAY_MS);
    expect(partitionFor([id], id)).toBe(days < 0 ? 'sessions_p20261126' : 'sessions_p20261128');
  });

  it('has different names for different days and texts', () => {
    const yesterday = idAt(TODAY_MS - DAY_MS);
    const other = onDays('sessions', [1], (sessions) => `SELECT 1 FROM ${sessions} WHERE id = $1`);
    const names = [
      dayStatement(FIND, [[today], today], TODAY_MS)?.name,
      dayStatement(FIND, [[yesterday], yesterday], TODAY_MS)?.name,
      dayStatement(other, [today], TODAY_MS)?.name,
    ];
    expect(new Set(names).size).toBe(3);
  });

  it.each([
    ['of two days', [today, idAt(TODAY_MS + DAY_MS)], today],
    ['with a bound on another day', [today], idAt(TODAY_MS - DAY_MS)],
    ['of two days back', [idAt(TODAY_MS - 2 * DAY_MS)], idAt(TODAY_MS - 2 * DAY_MS)],
    ['of a far day', [idAt(0)], idAt(0)],
    ['that are null', [null], today],
    ['that are no ids', ['x'], today],
  ])('is that of the table for ids %s', (_, ids, bound) => {
    expect(partitionFor(ids, bound)).toBeUndefined();
  });

  it('is that of the table without ids, and for a text that was not declared', () => {
    const one = onDays('events', [1], (events) => `SELECT FROM ${events} WHERE id = ANY ($1)`);
    expect(dayStatement(one, [[]], TODAY_MS)).toBeUndefined();
    expect(dayStatement('SELECT 1', [today], TODAY_MS)).toBeUndefined();
  });
});
