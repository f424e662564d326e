/** A route in the order in which routes of one prefix are tried. */
export interface Ordered {
  readonly id: string;
  readonly prefix: string;
  readonly priority: number;
}

/** The distance of new priorities, so that a later move changes one route alone. */
const STEP = 10;
export const MAX_PRIORITY = 1_000_000;

/** The longest prefix first, as it is tried; then the lowest priority. */
export const inOrder = (one: Ordered, other: Ordered): number =>
  other.prefix.length - one.prefix.length ||
  one.prefix.localeCompare(other.prefix, 'en') ||
  one.priority - other.priority ||
  one.id.localeCompare(other.id, 'en');

/**
 * The priorities that change when a route moves to a place among those of its prefix. Between two routes of one priority
 * it joins them, and shares the codes by weight. Else it gets a priority between its neighbours; where none is free, all
 * routes of the prefix get new ones, and those of one priority stay together.
 *
 * @param group the routes of the prefix, in order
 */
export function moved(group: readonly Ordered[], id: string, place: number): ReadonlyMap<string, number> {
  const route = group.find((each) => each.id === id);
  const others = group.filter((each) => each.id !== id);
  if (route === undefined || group[place]?.id === id) return new Map();
  const before = others[place - 1]?.priority;
  const after = others[place]?.priority;
  const free = between(before, after);
  if (free !== null) return new Map(free === route.priority ? [] : [[id, free]]);
  return renumbered([...others.slice(0, place), { ...route, priority: null }, ...others.slice(place)]);
}

/** A priority between two neighbours, undefined at an end; null where none is free. */
function between(before: number | undefined, after: number | undefined): number | null {
  if (before === undefined) return after === undefined || after === 0 ? null : Math.floor((after - 1) / 2);
  if (after === undefined) return before + STEP <= MAX_PRIORITY ? before + STEP : null;
  if (before === after) return before;
  return after - before < 2 ? null : Math.floor((before + after) / 2);
}

/** New priorities in this order. Null is of a route that shares with no other. */
function renumbered(group: readonly { readonly id: string; readonly priority: number | null }[]): Map<string, number> {
  const changed = new Map<string, number>();
  let next = 0;
  let last: number | null | undefined;
  for (const { id, priority } of group) {
    if (priority === null || priority !== last) next += STEP;
    last = priority;
    if (priority !== next) changed.set(id, next);
  }
  return changed;
}
