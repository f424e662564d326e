/** All sends of an account, over the last hour. */
export const ACCOUNT_SCOPE = '*';
/** All sends of an account on one UTC day. */
export const DAY_SCOPE = 'day';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** Longer slots for blocks, because their number is large and the table must stay small. */
const BLOCK_SLOT_MS = 5 * MINUTE_MS;

/** The first slots of a window. */
interface WindowStart {
  /** For sends: the slot in which the window begins, so that every send of the window counts. */
  readonly sendsFromMs: number;
  /** For approvals: the first slot within the window, so that no earlier approval counts. */
  readonly approvalsFromMs: number;
}

/** Slot length of a scope: the account, the day, a country (`US`) or a block of numbers (`+1415555`). */
const slotMs = (scope: string): number => {
  if (scope === DAY_SCOPE) return DAY_MS;
  return scope.startsWith('+') ? BLOCK_SLOT_MS : MINUTE_MS;
};

/** Start of the slot that contains a time. */
export const slotOf = (scope: string, atMs: number): number => atMs - (atMs % slotMs(scope));

/**
 * The window of a scope that ends now: the UTC day, else the last hour. A send counts for up to one slot longer than the
 * hour, an approval for up to one slot less: a limit over slots is at least as strict as the same limit over moments.
 */
export function windowOf(scope: string, nowMs: number): WindowStart {
  const beginMs = scope === DAY_SCOPE ? nowMs : nowMs - HOUR_MS;
  const sendsFromMs = slotOf(scope, beginMs);
  return { sendsFromMs, approvalsFromMs: scope === DAY_SCOPE ? sendsFromMs : sendsFromMs + slotMs(scope) };
}

/** The time from which no window reaches a slot, so that its row may be deleted. */
export const keptUntil = (scope: string, slotStartMs: number): number =>
  slotStartMs + slotMs(scope) + (scope === DAY_SCOPE ? DAY_MS : HOUR_MS);
