import { RealtimeChannel, type RealtimeListener } from './realtime-channel.js';
import { RealtimeConnection } from './realtime-connection.js';
import type { SessionView } from './realtime-event.js';
import type { ServerFrame } from './realtime-frame.js';
import {
  endAfter,
  failuresAfter,
  pauseAfterRefusal,
  RealtimeError,
  waitBeforeReconnect,
  type Backoff,
  type ConnectionEnd,
} from './realtime-retry.js';
import { safeSocketUrl, SUBPROTOCOL, type ConnectSocket } from './realtime-socket.js';

/** `connecting`, then `live`; `waiting` between two connections; `ended` permanently. */
export type RealtimeStatus = 'connecting' | 'live' | 'waiting' | 'ended';

/** `session:sess_…`, or, with a key, `account:acct_…`. */
export type RealtimeChannelName = `session:${string}` | `account:${string}`;

export interface RealtimeSubscription {
  readonly channel: RealtimeChannelName;
  /** Stops calling this listener. */
  close(): void;
}

/**
 * A live channel to the service. It connects with the first subscription, reconnects after a lost connection,
 * subscribes again, and reports the current state. It stays open until it is closed.
 */
export interface Realtime<View extends SessionView = SessionView> {
  /**
   * @throws RangeError for more channels than a connection can have (100)
   * @throws RealtimeError when it has already ended
   */
  subscribe(channel: RealtimeChannelName, listener: RealtimeListener<View>): RealtimeSubscription;
  /**
   * Resolves with the session when it is no longer pending, immediately if it has ended. Rejects with a
   * `RealtimeError` when the channel ends, and with the signal's reason.
   */
  untilEnded(sessionId: string, options?: { readonly signal?: AbortSignal }): Promise<View>;
  /** Ends it permanently. */
  close(): void;
}

/** The ticket that your backend got for one session from `realtimeTicket`. */
export interface RealtimeTicket {
  /** `rtk_…`: valid for one connection, within a minute. */
  readonly ticket: string;
  /** The URL for which it is valid. */
  readonly url: string;
}

export type TicketSource = () => Promise<RealtimeTicket | null>;

export interface RealtimeSettings<View extends SessionView> {
  readonly credential: TicketSource | { readonly url: string; readonly apiKey: string };
  readonly connect: ConnectSocket;
  readonly backoff: Backoff;
  readonly onStatus: (status: RealtimeStatus) => void;
  readonly isView: (value: unknown) => value is View;
}

/** The service's limit per connection. */
const MAX_CHANNELS = 100;
const TICKET_WITHIN_MS = 10_000;
const ANSWER_WITHIN_MS = 10_000;

/** Maintains one connection for all channels while there are any. */
export class RealtimeClient<View extends SessionView> implements Realtime<View> {
  readonly #settings: RealtimeSettings<View>;
  readonly #channels = new Map<string, RealtimeChannel<View>>();
  #connection: RealtimeConnection | null = null;
  #isReady = false;
  /** Waiting for a ticket, or for the time to reconnect. */
  #isOpening = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Consecutive failed connections. */
  #failures = 0;
  /** Consecutive refused tickets. */
  #refusals = 0;
  #requests = 0;
  #ended: RealtimeError | null = null;

  constructor(settings: RealtimeSettings<View>) {
    this.#settings = settings;
  }

  subscribe(name: RealtimeChannelName, listener: RealtimeListener<View>): RealtimeSubscription {
    if (this.#ended !== null) throw this.#ended;
    const channel = this.#channelFor(name);
    channel.join(listener);
    if (this.#connection === null && !this.#isOpening) void this.#open();
    this.#sendDueMessages();
    const close = (): void => {
      channel.leave(listener);
      this.#sendDueMessages();
    };
    return { channel: name, close };
  }

  untilEnded(sessionId: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<View> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = (): void => {
        subscription.close();
        signal?.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        stop();
        reject(reasonOf(signal));
      };
      const resolveIfEnded = (session: View | null): void => {
        if (session === null || session.status === 'pending' || session.id !== sessionId) return;
        stop();
        resolve(session);
      };
      const subscription = this.subscribe(`session:${sessionId}`, {
        snapshot: resolveIfEnded,
        event: ({ data }) => resolveIfEnded(this.#settings.isView(data) ? data : null),
        ended: (error) => {
          stop();
          reject(error);
        },
      });
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  close(): void {
    this.#endAll(new RealtimeError('closed', 'It was closed.'));
  }

  #channelFor(name: RealtimeChannelName): RealtimeChannel<View> {
    const known = this.#channels.get(name);
    if (known !== undefined) return known;
    const wanted = [...this.#channels.values()].filter(({ isWanted }) => isWanted).length;
    if (wanted >= MAX_CHANNELS) throw new RangeError(`A connection has at most ${MAX_CHANNELS} channels.`);
    const channel = new RealtimeChannel(name, this.#settings.isView);
    this.#channels.set(name, channel);
    return channel;
  }

  async #open(): Promise<void> {
    this.#isOpening = true;
    this.#settings.onStatus('connecting');
    try {
      const ticket = await this.#ticket();
      if (this.#ended !== null) return;
      if (ticket === null) this.#endAll(new RealtimeError('no_ticket', 'There is no ticket any more.'));
      else this.#connect(ticket);
    } catch {
      this.#handleLostConnection({ code: 1_006, httpStatus: null, reconnectAfterMs: null, readyMs: null });
    } finally {
      this.#isOpening = this.#timer !== undefined;
    }
  }

  /** The URL and the ticket; the ticket is empty when a key is used. */
  async #ticket(): Promise<RealtimeTicket | null> {
    const { credential } = this.#settings;
    if (typeof credential !== 'function') return { url: credential.url, ticket: '' };
    const ticket = await within(TICKET_WITHIN_MS, credential());
    return ticket === null ? null : { ...ticket, url: safeSocketUrl(ticket.url) };
  }

  #connect({ url, ticket }: RealtimeTicket): void {
    const { credential, connect } = this.#settings;
    const headers = typeof credential === 'function' ? {} : { authorization: `Bearer ${credential.apiKey}` };
    const socket = connect(url, [SUBPROTOCOL], headers);
    this.#connection = new RealtimeConnection(socket, ticket === '' ? null : ticket, {
      ready: () => {
        this.#isReady = true;
        this.#settings.onStatus('live');
        this.#sendDueMessages();
      },
      frame: (frame) => this.#handleFrame(frame),
      end: (end) => this.#handleLostConnection(end),
    });
  }

  /** Sends due messages within the rate limit; unsubscribes first, to free channels. */
  #sendDueMessages(): void {
    const byWish = [...this.#channels.values()].sort((a, b) => Number(a.isWanted) - Number(b.isWanted));
    for (const channel of byWish) {
      const message = channel.dueMessage(String(this.#requests + 1));
      if (message !== null && this.#isReady) {
        if (this.#connection?.trySend(message, () => this.#sendDueMessages()) !== true) return;
        this.#requests += 1;
        channel.recordSent(message, ANSWER_WITHIN_MS, () => this.#connection?.drop());
      }
      if (channel.isOver) this.#channels.delete(channel.name);
    }
  }

  #handleFrame(frame: ServerFrame): void {
    switch (frame.type) {
      case 'subscribed':
        if (this.#channels.get(frame.channel)?.handleSubscribed(frame.id, frame.snapshot) === false)
          this.#endAll(new RealtimeError('protocol', 'A snapshot came that is none.'));
        return;
      case 'event':
        this.#channels.get(frame.channel)?.handleEvent(frame);
        return;
      case 'unsubscribed':
        // With an id it is the answer to our own request.
        if (frame.id === null)
          this.#endChannel(frame.channel, new RealtimeError('refused', 'The service ended the subscription.'));
        return;
      case 'error':
        this.#handleError(frame);
    }
  }

  #handleError({ id, code, message }: Extract<ServerFrame, { type: 'error' }>): void {
    const channel = [...this.#channels.values()].find((each) => each.isAskedBy(id));
    if (channel === undefined) return;
    if (code === 'RESUME_TOO_OLD') {
      channel.handleTooOld();
      return;
    }
    const pauseMs = pauseAfterRefusal(code, this.#settings.backoff, Math.random());
    if (pauseMs === null) {
      this.#endChannel(channel.name, new RealtimeError('refused', `${code}: ${message}`, code));
      return;
    }
    channel.pause(pauseMs, () => this.#sendDueMessages());
  }

  #endChannel(name: string, error: RealtimeError): void {
    const channel = this.#channels.get(name);
    this.#channels.delete(name);
    channel?.end(error);
  }

  /** A connection was lost, or could not be opened. */
  #handleLostConnection(end: ConnectionEnd): void {
    this.#connection = null;
    this.#isReady = false;
    for (const channel of this.#channels.values()) channel.disconnected();
    if (this.#ended !== null) return;
    this.#failures = failuresAfter(end, this.#failures);
    if (end.readyMs !== null) this.#refusals = 0;
    if (end.code === 4401) this.#refusals += 1;
    const last = endAfter(end, { refusals: this.#refusals, byTicket: typeof this.#settings.credential === 'function' });
    if (last === null) this.#reconnectAfter(end);
    else this.#endAll(last);
  }

  #reconnectAfter(end: ConnectionEnd): void {
    this.#settings.onStatus('waiting');
    const waitMs = waitBeforeReconnect(end, Math.max(this.#failures - 1, 0), this.#settings.backoff, Math.random());
    this.#isOpening = true;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#isOpening = false;
      this.#sendDueMessages();
      // Without listeners, the next subscription connects.
      if (this.#channels.size > 0) void this.#open();
    }, waitMs);
  }

  #endAll(error: RealtimeError): void {
    if (this.#ended !== null) return;
    this.#ended = error;
    clearTimeout(this.#timer);
    this.#connection?.close();
    for (const name of [...this.#channels.keys()]) this.#endChannel(name, error);
    this.#settings.onStatus('ended');
  }
}

/** @throws Error when the promise does not settle within the duration */
function within<Value>(durationMs: number, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Not within ${durationMs} ms.`)), durationMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('The call was aborted.', { cause: reason });
}
