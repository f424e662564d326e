import { expect, it } from 'vitest';
import { halfPace, judgePace } from './half-load.js';
import type { Row } from './report.js';

const row = (perSecond: number): Row => ({
  section: 'create',
  subject: 'countersign, half load, 1000/s',
  perSecond,
  p50Ms: 1,
  p99Ms: 2,
  errors: 0,
  rssMiB: 3,
});

it('is half of the throughput, with one second of ramp and four that are measured', () => {
  expect(halfPace(5_757)).toEqual({ perSecond: 2_879, count: 14_395, ramp: 2_879 });
  expect(halfPace(1)).toEqual({ perSecond: 1, count: 5, ramp: 1 });
});

it('leaves a row alone whose rate is at least 97 % of the intended one', () => {
  const { row: judged, ratio } = judgePace(row(970), 1_000);
  expect(judged.subject).toBe('countersign, half load, 1000/s');
  expect(ratio).toMatchObject({ section: 'create', value: 0.97, reachFor: '>= 0.97' });
});

it('marks a row whose rate is below, and does not round up to the limit', () => {
  const { row: judged, ratio } = judgePace(row(9_699), 10_000);
  expect(judged.subject).toMatch(/, RATE NOT REACHED$/);
  expect(ratio.value).toBe(0.969);
});
