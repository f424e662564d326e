import type { Uuid } from '@countersign/ids';

/** The bind for codes to numbers with a prefix, and its price (contract, Admin). */
export interface Route {
  readonly id: Uuid;
  /** A plus sign and digits; the plus sign alone for every number. */
  readonly prefix: string;
  readonly bindId: Uuid;
  /** Lower is tried first. */
  readonly priority: number;
  /** Share of the traffic among routes of one prefix and priority. */
  readonly weight: number;
  /** Our cost of one message: a decimal number in US dollars. */
  readonly costUsd: string;
  /** Replaces the message's own sender; null keeps it. */
  readonly sourceAddress: string | null;
  readonly enabled: boolean;
}

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
