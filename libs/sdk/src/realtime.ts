import { RealtimeClient, type Realtime, type RealtimeStatus, type TicketSource } from './realtime-client.js';
import { isSessionView } from './realtime-event.js';
import { connectGlobally, globalSocket, safeSocketUrl, type ConnectSocket } from './realtime-socket.js';
import { isSession, type Session } from './session.js';

export interface RealtimeOptions {
  /** A WebSocket implementation other than the global one: on Node before 22, or with your own CA. */
  readonly connect?: ConnectSocket;
  readonly onStatus?: (status: RealtimeStatus) => void;
  /** The bound of the first wait between two connections; 500 ms. It doubles with every failure. */
  readonly firstBackoffMs?: number;
  /** The maximum of that bound; 30 s. */
  readonly longestBackoffMs?: number;
}

/** For a page: it has no key, and sees the part of its session that a ticket shows. */
export interface TicketRealtimeOptions extends RealtimeOptions {
  /**
   * Requests a new ticket from your backend; called for every connection, because a ticket is valid for one. Null
   * when the session is over and there is no ticket. An exception counts as a failed connection, and is retried.
   */
  readonly ticket: TicketSource;
}

/** For a server. */
export interface KeyRealtimeOptions extends RealtimeOptions {
  /** `wss://verify.example.com/v1/realtime`. Plain `ws:` is accepted for this computer only. */
  readonly url: string;
  /** `csk_live_…` or `csk_test_…` with the scope `realtime`. */
  readonly apiKey: string;
}

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

/**
 * Live events of sessions over one WebSocket. A page passes `ticket`, a server `url` and `apiKey`.
 *
 * @throws TypeError without a WebSocket, for a key in a page, and for a url over which a key could be read
 */
export function realtime(options: KeyRealtimeOptions): Realtime<Session>;
export function realtime(options: TicketRealtimeOptions): Realtime;
export function realtime(options: KeyRealtimeOptions | TicketRealtimeOptions): Realtime<Session> | Realtime {
  if (options.connect === undefined) globalSocket();
  return 'ticket' in options
    ? new RealtimeClient({ ...settingsOf(options), credential: options.ticket, isView: isSessionView })
    : new RealtimeClient({ ...settingsOf(options), credential: keyOf(options), isView: isSession });
}

function settingsOf({
  connect = connectGlobally,
  onStatus = () => undefined,
  firstBackoffMs = FIRST_BACKOFF_MS,
  longestBackoffMs = LONGEST_BACKOFF_MS,
}: RealtimeOptions): Required<Pick<RealtimeOptions, 'connect' | 'onStatus'>> & {
  readonly backoff: { readonly firstMs: number; readonly longestMs: number };
} {
  return { connect, onStatus, backoff: { firstMs: firstBackoffMs, longestMs: longestBackoffMs } };
}

function keyOf({ url, apiKey }: KeyRealtimeOptions): { readonly url: string; readonly apiKey: string } {
  if (Reflect.has(globalThis, 'document')) throw new TypeError('A key must never be in a page: give `ticket`.');
  return { url: safeSocketUrl(url), apiKey };
}
