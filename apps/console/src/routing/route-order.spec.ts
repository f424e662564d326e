import { describe, expect, it } from 'vitest';
import { inOrder, moved, type Ordered } from './route-order.js';

const group = (...priorities: number[]): Ordered[] =>
  priorities.map((priority, index) => ({ id: `r${String(index)}`, prefix: '+44', priority }));

/** The ids after a move, in the order in which they are tried. */
function after(routes: readonly Ordered[], id: string, place: number): string[] {
  const changes = moved(routes, id, place);
  return routes
    .map((route) => ({ ...route, priority: changes.get(route.id) ?? route.priority }))
    .sort(inOrder)
    .map((route) => route.id);
}

describe('the order of routes', () => {
  it('is that in which they are tried: the longest prefix, then the lowest priority', () => {
    const routes = [
      { id: 'a', prefix: '+', priority: 0 },
      { id: 'b', prefix: '+4479', priority: 5 },
      { id: 'c', prefix: '+44', priority: 1 },
      { id: 'd', prefix: '+4479', priority: 2 },
    ];
    expect(routes.sort(inOrder).map(({ id }) => id)).toEqual(['d', 'b', 'c', 'a']);
  });

  it.each([
    ['r0', 2, ['r1', 'r2', 'r0']],
    ['r2', 0, ['r2', 'r0', 'r1']],
    ['r0', 1, ['r1', 'r0', 'r2']],
  ])('is the wanted one after %s moved to place %i', (id, place, order) => {
    for (const routes of [group(0, 10, 20), group(0, 1, 2), group(5, 6, 7), group(1, 3, 9)])
      expect(after(routes, id, place)).toEqual(order);
  });

  it('changes one route alone where a priority is free', () => {
    expect(moved(group(0, 10, 20), 'r2', 1)).toEqual(new Map([['r2', 5]]));
    expect(moved(group(0, 10, 20), 'r0', 2)).toEqual(new Map([['r0', 30]]));
  });

  it('numbers all routes again where none is free, and keeps those together that share codes', () => {
    expect(moved(group(0, 0, 1), 'r2', 0)).toEqual(
      new Map([
        ['r2', 10],
        ['r0', 20],
        ['r1', 20],
      ]),
    );
  });

  it('lets a route join two that share codes', () => {
    expect(moved(group(3, 3, 8), 'r2', 1)).toEqual(new Map([['r2', 3]]));
  });

  it('stays when a route moves to its own place, or is unknown', () => {
    expect(moved(group(0, 10), 'r1', 1).size).toBe(0);
    expect(moved(group(0, 10), 'r9', 0).size).toBe(0);
  });

  it('never leaves the range of priorities', () => {
    for (const [, priority] of moved(group(1_000_000, 1_000_000, 1_000_000), 'r0', 2))
      expect(priority).toBeLessThanOrEqual(1_000_000);
  });
});
