import { describe, expect, it } from 'vitest';
import { ageOf, clockOf, dayOf } from './page/times.mjs';

const at = (day: number, hour: number, minute = 0): number => new Date(2026, 0, day, hour, minute).getTime();
const NOW = at(15, 9, 30);

describe('the time of a message', () => {
  it('is a clock beside its bubble', () => expect(clockOf(at(15, 9, 5), 'en-GB')).toBe('9:05'));

  it.each([
    [at(15, 0, 1), 'Today'],
    [at(14, 23, 59), 'Yesterday'],
    [at(12, 12), 'Monday 12 January'],
  ])('is a day above the thread: %s is %s', (moment, shown) => expect(dayOf(moment, NOW, 'en-GB')).toBe(shown));

  it.each([
    [NOW - 5_000, 'Now'],
    [at(15, 8, 15), '8:15'],
    [at(14, 23), 'Wed'],
    [at(1, 12), '1 Jan'],
  ])('is short in the list: %s is %s', (moment, shown) => expect(ageOf(moment, NOW, 'en-GB')).toBe(shown));
});
