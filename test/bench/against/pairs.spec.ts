import { expect, it } from 'vitest';
import { groupsOf, orderOf } from './pairs.js';

it('lets each build come first in every other pair', () => {
  expect([0, 1, 2].map((pair) => orderOf(pair)[0])).toEqual(['commit', 'tree', 'commit']);
  expect(new Set(orderOf(7))).toEqual(new Set(['commit', 'tree']));
});

it('starts both builds anew after at most five pairs', () => {
  expect(groupsOf(10)).toEqual([5, 5]);
  expect(groupsOf(3)).toEqual([3]);
  expect(groupsOf(6)).toEqual([3, 3]);
  expect(groupsOf(11)).toEqual([4, 4, 3]);
});
