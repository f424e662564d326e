import { CountersignError } from './errors.js';

/** Why there will be no more news. */
export type RealtimeEndReason =
  /** You closed it. */
  | 'closed'
  /** The key was refused or revoked, or tickets were refused again and again. */
  | 'unauthorized'
  /** Not allowed, the key's scope for instance, or there is no realtime at this address. */
  | 'forbidden'
  /** The service did not understand this client, or this client the service. */
  | 'protocol'
  /** The callback had no ticket to give: the session is over. */
  | 'no_ticket'
  /** This channel alone: it is not there, or not yours. `code` says which. */
  | 'refused';

/** There will be no more news, of one channel or of all. */
export class RealtimeError extends CountersignError {
  override readonly name = 'RealtimeError';

  constructor(
    readonly reason: RealtimeEndReason,
    message: string,
    /** The service's code, for `refused`. */
    readonly code?: string,
  ) {
    super(message);
  }
}

/** How a connection ended. */
export interface ConnectionEnd {
  /** The close code (RFC 6455, 7.4); 1006 when it never opened, broke or fell silent. */
  readonly code: number;
  /** What the upgrade was answered instead of 101, where the implementation tells. */
  readonly httpStatus: number | null;
  /** What `closing` asked for. */
  readonly reconnectAfterMs: number | null;
  /** How long it was of use; null when it never was. */
  readonly readyMs: number | null;
}

/** Tickets expire within a minute: one may be refused by bad luck, not one after another. */
const MAX_REFUSALS = 3;

/**
 * Whether a connection that ended so is the last. Everything else is tried again: 1001 and 4503 are the service's own
 * troubles, 4408 and 1006 the network's, 4429 passes.
 *
 * @param refusals how many connections in a row were refused their credential, this one included
 */
export function endAfter(
  { code, httpStatus }: Pick<ConnectionEnd, 'code' | 'httpStatus'>,
  { refusals, byTicket }: { readonly refusals: number; readonly byTicket: boolean },
): RealtimeError | null {
  if (httpStatus === 401) return new RealtimeError('unauthorized', 'The key was refused.');
  if (httpStatus === 403 || httpStatus === 404)
    return new RealtimeError('forbidden', `There is no realtime for this key at this address: HTTP ${httpStatus}.`);
  if (code === 4400) return new RealtimeError('protocol', 'The service did not understand what this client sent.');
  if (code === 4403) return new RealtimeError('forbidden', 'The key may not do this.');
  if (code === 4401 && !byTicket) return new RealtimeError('unauthorized', 'The key is not valid any more.');
  if (code === 4401 && refusals >= MAX_REFUSALS)
    return new RealtimeError('unauthorized', `${refusals} tickets were refused one after another.`);
  return null;
}

export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** After a limit was hit, coming back at once would hit it again. */
const AFTER_LIMIT_MS = 1_000;

/**
 * How long to wait before the next connection: what the service asked for, which it has spread by itself; else full
 * jitter, any time up to a bound that doubles with every failure, so that clients that were dropped together come back
 * spread out.
 *
 * @param random from 0 up to, but not, 1
 */
export function waitBeforeReconnect(
  { code, reconnectAfterMs }: Pick<ConnectionEnd, 'code' | 'reconnectAfterMs'>,
  failures: number,
  { firstMs, longestMs }: Backoff,
  random: number,
): number {
  if (reconnectAfterMs !== null) return reconnectAfterMs;
  const bound = Math.min(firstMs * 2 ** failures, longestMs);
  return (code === 4429 ? AFTER_LIMIT_MS : 0) + Math.round(bound * random);
}

/** A connection that lasted this long was a good one: what comes after it is no repeated failure. */
const STEADY_MS = 10_000;

/** Connections in a row that were of no use, after one more has ended. */
export function failuresAfter({ readyMs }: Pick<ConnectionEnd, 'readyMs'>, failures: number): number {
  return readyMs !== null && readyMs >= STEADY_MS ? 0 : failures + 1;
}

/** Mean wait before a channel is asked for again, by the code it was refused with. */
const PAUSES_MS: ReadonlyMap<string, number> = new Map([
  ['INTERNAL_ERROR', 1_000],
  ['SERVICE_UNAVAILABLE', 1_000],
  // Every attempt counts towards the quota of the key, which its other calls need too; a window of it lasts a minute.
  ['RATE_LIMITED', 10_000],
]);

/**
 * How long to wait before a refused channel is asked for again; null when asking again is of no use.
 *
 * @param random from 0 up to, but not, 1
 */
export function pauseAfterRefusal(code: string, { longestMs }: Backoff, random: number): number | null {
  const meanMs = PAUSES_MS.get(code);
  return meanMs === undefined ? null : Math.round(Math.min(meanMs, longestMs) * (0.5 + random));
}
