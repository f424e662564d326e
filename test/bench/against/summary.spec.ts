import { expect, it } from 'vitest';
import type { Measure } from '../report.js';
import { compare, renderComparison } from './summary.js';

const measure = (perSecond: number, gatewayMicros: number, p99Ms = 0): Measure => ({
  perSecond,
  p50Ms: 0,
  p99Ms,
  errors: 0,
  cpu: { operations: 100, micros: { gateway: gatewayMicros } },
});

it('takes the median of the ratios of each pair, not the ratio of the medians', () => {
  const rows = compare('inbound', [
    { base: measure(100, 10_000), compared: measure(200, 5_000) },
    { base: measure(400, 2_000), compared: measure(400, 2_000) },
    { base: measure(50, 8_000), compared: measure(200, 2_000) },
  ]);
  const rate = rows.find(({ figure }) => figure === 'per second');
  expect(rate).toMatchObject({
    base: 100,
    compared: 200,
    ratio: { median: 2, lowerQuartile: 1.5, upperQuartile: 3, interval: null },
  });
  const cpu = rows.find(({ figure }) => figure === 'CPU µs/op, gateway');
  expect(cpu).toMatchObject({
    base: 80,
    compared: 20,
    ratio: { median: 0.5, lowerQuartile: 0.375, upperQuartile: 0.75 },
  });
});

it('compares allocated memory where it was measured', () => {
  const pair = {
    base: { ...measure(100, 10_000), allocatedBytes: 4_096 },
    compared: { ...measure(100, 10_000), allocatedBytes: 2_048 },
  };
  const row = compare('create', [pair]).find(({ figure }) => figure === 'allocated bytes/op');
  expect(row).toMatchObject({ base: 4_096, compared: 2_048, ratio: { median: 0.5 } });
});

it('leaves out what was not measured on both sides of every pair', () => {
  const rows = compare('inbound', [
    { base: measure(100, 10_000, 5), compared: measure(200, 5_000, 5) },
    { base: measure(100, 10_000, 5), compared: measure(200, 5_000, 0) },
  ]);
  expect(rows.map(({ figure }) => figure)).toEqual([
    'CPU µs/op, gateway',
    'CPU µs/op, total without load',
    'per second',
  ]);
});

it('prints a line for each figure', () => {
  const rows = compare('create', [{ base: measure(1_000, 20_000), compared: measure(1_100, 15_000) }]);
  const text = renderComparison({ base: 'abc1234', compared: 'working tree' }, rows);
  expect(text.split('\n')[0]).toMatch(/^section +figure +abc1234 +working tree +ratio +quartiles +95 % interval/);
  expect(text).toMatch(/create +CPU µs\/op, gateway +200\.0 +150\.0 +0\.750 +0\.750–0\.750 +-/);
});
