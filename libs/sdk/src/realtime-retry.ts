import { CountersignError } from './errors.js';

/** Why there will be no more events. */
export type RealtimeEndReason =
  /** You closed it. */
  | 'closed'
  /** The key was refused or revoked, or tickets were refused repeatedly. */
  | 'unauthorized'
  /** Not allowed, for instance by the key's scope, or this URL has no realtime service. */
  | 'forbidden'
  /** The service did not understand this client, or this client the service. */
  | 'protocol'
  /** The callback returned no ticket: the session is over. */
  | 'no_ticket'
  /** This channel only: it does not exist, or is not yours. See `code`. */
  | 'refused';

/** There will be no more events, of one channel or of all. */
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

/** The end of a connection. */
export interface ConnectionEnd {
  /** The close code (RFC 6455, 7.4); 1006 when it never opened, was lost or silent. */
  readonly code: number;
  /** The status of the upgrade response instead of 101, if the implementation reports it. */
  readonly httpStatus: number | null;
  /** The delay requested by `closing`. */
  readonly reconnectAfterMs: number | null;
  /** How long it was authenticated; null if it never was. */
  readonly readyMs: number | null;
}

/** Tickets expire within a minute: a single one may be refused, but not several in a row. */
const MAX_REFUSALS = 3;

/**
 * Whether to stop after a connection ended. All other ends are retried: 1001 and 4503 are problems of the service,
 * 4408 and 1006 of the network, 4429 is temporary.
 *
 * @param refusals consecutive connections whose credential was refused, including this one
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

/** After a limit was hit, an immediate reconnect would hit it again. */
const AFTER_LIMIT_MS = 1_000;

/**
 * The wait before the next connection: the delay that the service requested, which includes its own jitter; else full
 * jitter up to a bound that doubles with every failure, so that clients dropped together reconnect at different
 * times.
 *
 * @param random from 0 (inclusive) to 1 (exclusive)
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

/** A connection of this duration resets the failure count. */
const STEADY_MS = 10_000;

/** Consecutive failed connections, after one more has ended. */
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
