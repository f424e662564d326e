import type { Route } from './route.entity.js';

/** A random number from 0 (inclusive) to 1 (exclusive). */
type RandomSource = () => number;

/**
 * The routes for a number, best first: longest prefix, then priority, then random order weighted by `weight` (each
 * position is drawn from the remaining routes).
 */
export function routesInOrder(routes: readonly Route[], e164: string, chance: RandomSource): Route[] {
  const fitting = routes.filter(({ enabled, prefix }) => enabled && e164.startsWith(prefix));
  const ranks = new Map<string, Route[]>();
  for (const route of fitting.sort(byRank)) {
    const rank = `${route.prefix}:${route.priority}`;
    ranks.set(rank, [...(ranks.get(rank) ?? []), route]);
  }
  return [...ranks.values()].flatMap((equals) => drawn(equals, chance));
}

const byRank = (one: Route, other: Route): number =>
  other.prefix.length - one.prefix.length || one.priority - other.priority;

function drawn(equals: readonly Route[], chance: RandomSource): Route[] {
  const left = [...equals];
  const order: Route[] = [];
  while (left.length > 0) {
    const total = left.reduce((sum, { weight }) => sum + weight, 0);
    let point = chance() * total;
    const at = left.findIndex(({ weight }) => (point -= weight) < 0);
    order.push(...left.splice(at === -1 ? left.length - 1 : at, 1));
  }
  return order;
}
