import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Route } from './route.entity.js';
import { routesInOrder } from './route.js';

const route = (id: string, changes: Partial<Route> = {}): Route => ({
  id,
  prefix: '+',
  bindId: id,
  systemId: null,
  priority: 0,
  weight: 1,
  costUsd: '0',
  sourceAddress: null,
  submitOptions: {},
  enabled: true,
  ...changes,
});
const order = (routes: readonly Route[], e164 = '+447400123456', chance = (): number => 0): string[] =>
  routesInOrder(routes, e164, chance).map(({ id }) => id);

describe('the routes of a number', () => {
  it('are those with a matching prefix, the longest first', () => {
    const routes = [
      route('any'),
      route('uk', { prefix: '+44' }),
      route('us', { prefix: '+1' }),
      route('7', { prefix: '+447' }),
    ];
    expect(order(routes)).toEqual(['7', 'uk', 'any']);
  });

  it('with one prefix are ordered by priority, the lower first', () => {
    expect(
      order([
        route('second', { priority: 2 }),
        route('first', { priority: -1 }),
        route('uk', { prefix: '+44', priority: 9 }),
      ]),
    ).toEqual(['uk', 'first', 'second']);
  });

  it('with one priority are drawn by weight', () => {
    const routes = [route('heavy', { weight: 3 }), route('light')];
    expect(order(routes, undefined, () => 0.74)).toEqual(['heavy', 'light']);
    expect(order(routes, undefined, () => 0.76)).toEqual(['light', 'heavy']);
  });

  it('exclude disabled ones', () => {
    expect(order([route('off', { enabled: false }), route('on')])).toEqual(['on']);
  });

  it('contain each route once, for any random numbers', () => {
    const routes = fc.uniqueArray(
      fc.record({
        id: fc.string({ minLength: 1 }),
        priority: fc.integer({ min: 0, max: 2 }),
        weight: fc.integer({ min: 1, max: 1_000 }),
      }),
      { selector: ({ id }) => id },
    );
    const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(routes, chances, (drafts, chance) => {
        const made = drafts.map(({ id, ...rest }) => route(id, rest));
        const ordered = routesInOrder(made, '+1', () => chance);
        expect(new Set(ordered)).toEqual(new Set(made));
        expect(ordered).toHaveLength(made.length);
        const priorities = ordered.map(({ priority }) => priority);
        expect(priorities).toEqual([...priorities].sort((one, other) => one - other));
      }),
    );
  });
});
