import type { Uuid } from '@countersign/ids';

/** Which bind takes codes to numbers that begin so, and at what price (contract, Admin). */
export interface Route {
  readonly id: Uuid;
  /** A plus sign and digits; the plus sign alone for every number. */
  readonly prefix: string;
  readonly bindId: Uuid;
  /** Lower is tried first. */
  readonly priority: number;
  /** Share of the traffic among routes of one prefix and priority. */
  readonly weight: number;
  /** What one message costs us there: a decimal number in US dollars. */
  readonly costUsd: string;
  /** The sender of all that goes this way, in place of the message's own. */
  readonly sourceAddress: string | null;
  readonly enabled: boolean;
}

/** A number from 0 up to, but not, 1. */
export type Chance = () => number;

/**
 * The routes that a number may go, best first: longest prefix, then priority, then by lot in proportion to their weights
 * (each place is drawn from those that are left).
 */
export function routesInOrder(routes: readonly Route[], e164: string, chance: Chance): Route[] {
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

function drawn(equals: readonly Route[], chance: Chance): Route[] {
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
