/** All sends of an account, over the last hour. */
export const ACCOUNT_SCOPE = '*';
/** All sends of an account on one UTC day. */
export const DAY_SCOPE = 'day';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** There are many blocks: longer slots keep the table small. */
const BLOCK_SLOT_MS = 5 * MINUTE_MS;

/** The first slots of a window. */
interface WindowStart {
  /** Of sends: the slot in which the window begins, so that no send of the window is missed. */
  readonly sendsFromMs: number;
  /** Of approvals: the first slot that lies within the window, so that no earlier approval counts. */
  readonly approvalsFromMs: number;
}

/** The scope of a country (`US`), which is its own name, or of a block of numbers (`+1415555`). */
const slotMs = (scope: string): number => {
  if (scope === DAY_SCOPE) return DAY_MS;
  return scope.startsWith('+') ? BLOCK_SLOT_MS : MINUTE_MS;
};

/** The beginning of the slot in which a moment is counted. */
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

/** When the row of a slot may be deleted: no window can reach it any more. */
export const keptUntil = (scope: string, slotStartMs: number): number =>
  slotStartMs + slotMs(scope) + (scope === DAY_SCOPE ? DAY_MS : HOUR_MS);
