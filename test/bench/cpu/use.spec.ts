import { expect, it } from 'vitest';
import { addMicros, perOperation } from './use.js';

it('divides by the operations and adds both totals', () => {
  const micros = { 'control plane': 2_000, PostgreSQL: 500, 'load generator': 1_000 };
  expect(perOperation({ operations: 10, micros })).toEqual({
    'control plane': 200,
    PostgreSQL: 50,
    'load generator': 100,
    'total without load': 250,
    total: 350,
  });
});

it('has no total with the load generator where that was not measured', () => {
  expect(perOperation({ operations: 2, micros: { PostgreSQL: 10 } })).toEqual({
    PostgreSQL: 5,
    'total without load': 5,
  });
});

it('answers nothing without operations or measured processes', () => {
  expect(perOperation({ operations: 0, micros: { PostgreSQL: 10 } })).toEqual({});
  expect(perOperation({ operations: 5, micros: {} })).toEqual({});
});

it('adds two sources of one window by role', () => {
  expect(addMicros({ PostgreSQL: 3, 'load generator': 1 }, { 'load generator': 4 })).toEqual({
    PostgreSQL: 3,
    'load generator': 5,
  });
});
