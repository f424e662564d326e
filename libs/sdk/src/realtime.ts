import { RealtimeClient, type Realtime, type RealtimeStatus, type TicketSource } from './realtime-client.js';
import { isSessionView } from './realtime-event.js';
import { connectGlobally, globalSocket, safeSocketUrl, type ConnectSocket } from './realtime-socket.js';
import { isSession, type Session } from './session.js';

export interface RealtimeOptions {
  /** For another WebSocket than the global one: on Node before 22, or with a CA of your own. */
  readonly connect?: ConnectSocket;
  readonly onStatus?: (status: RealtimeStatus) => void;
  /** The bound of the first wait between two connections; 500 ms. It doubles with every failure. */
  readonly firstBackoffMs?: number;
  /** It grows no further than this; 30 s. */
  readonly longestBackoffMs?: number;
}

/** For a page: it holds no key, and sees of its session what a ticket shows. */
export interface TicketRealtimeOptions extends RealtimeOptions {
  /**
   * Asks your backend for a new ticket; called for every connection, as a ticket is good for one. Null when the session
   * is over and there is none to be had. What it throws counts as a connection that failed, and is tried again.
   */
  readonly ticket: TicketSource;
}

/** For a server. */
export interface KeyRealtimeOptions extends RealtimeOptions {
  /** `wss://verify.example.com/v1/realtime`. Plain `ws:` is taken for this computer only. */
  readonly url: string;
  /** `csk_live_…` or `csk_test_…` with the scope `realtime`. */
  readonly apiKey: string;
}

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

/**
 * News of sessions as they happen, over one WebSocket. A page gives `ticket`, a server `url` and `apiKey`.
 *
 * @throws TypeError where there is no WebSocket, for a key in a page, and for a url over which a key could be read
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
