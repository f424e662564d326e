/** A frame of the server (contract, Realtime). Fields of other frames are ignored. */
interface ServerFrame {
  readonly type?: unknown;
  readonly channel?: unknown;
  readonly snapshot?: unknown;
  readonly event?: unknown;
  readonly data?: unknown;
  readonly reconnectAfterMs?: unknown;
}

/** A subscriber of a channel. Data is of the server and of any form: check it before use. */
export interface Listener {
  /** After each subscription, so also after a reconnection. */
  readonly onSnapshot: (snapshot: unknown) => void;
  readonly onEvent: (event: string, data: unknown) => void;
}

type Socket = Pick<WebSocket, 'send' | 'close' | 'onopen' | 'onmessage' | 'onclose'>;

interface RealtimeParts {
  readonly open: () => Socket;
  /** Called when the server has ended the session, or refuses the connection. */
  readonly onRefused: () => void;
  /** From 0 to 1; spreads the reconnections of many browsers. */
  readonly random?: () => number;
}

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;
/** The server answers a ping at once; without an answer until the next one the connection is dead. */
const PING_MS = 20_000;
/** An unused connection is closed after this time: the next page may use it. */
const IDLE_MS = 5_000;
/** The session ended, or the role changed. */
const SESSION_ENDED = 4401;
/** Time for the question whether the session lives; with another role the connection is made again. */
const AFTER_SESSION_MS = 3_000;

/**
 * One connection for all channels. It is open while a channel has a listener and shortly after, and reconnects with growing waits. Without
 * it pages ask every 5 s, as `useIsLive` says.
 */
export class Realtime {
  readonly #parts: RealtimeParts;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #watchers = new Set<() => void>();
  readonly #live = new Set<string>();
  #socket: Socket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOpen = false;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #waitMs = 0;
  #isAnswered = true;
  #lastId = 0;

  constructor(parts: RealtimeParts) {
    this.#parts = parts;
  }

  /** Whether the channel is subscribed now. */
  readonly isLive = (channel: string): boolean => this.#live.has(channel);

  /** Calls back after each change of `isLive`. Returns the function that ends it. */
  readonly watch = (onChange: () => void): (() => void) => {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  };

  /** Returns the function that ends the subscription. */
  subscribe(channel: string, listener: Listener): () => void {
    const known = this.#listeners.get(channel);
    this.#listeners.set(channel, new Set([...(known ?? []), listener]));
    clearTimeout(this.#idle);
    if (this.#socket === null && this.#timer === undefined) this.#connect();
    // Again for a channel that has listeners: this one needs a snapshot too.
    else if (this.#isOpen) this.#send({ type: 'subscribe', channel });
    return () => this.#unsubscribe(channel, listener);
  }

  #unsubscribe(channel: string, listener: Listener): void {
    const left = this.#listeners.get(channel);
    left?.delete(listener);
    if (left === undefined || left.size > 0) return;
    this.#listeners.delete(channel);
    this.#live.delete(channel);
    if (this.#isOpen) this.#send({ type: 'unsubscribe', channel });
    if (this.#listeners.size > 0) return;
    if (this.#socket === null) this.#end();
    else this.#idle = setTimeout(() => this.#end(), IDLE_MS);
  }

  #end(): void {
    const socket = this.#socket;
    this.#reset();
    this.#failures = 0;
    socket?.close();
  }

  #reset(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#socket = null;
    this.#isOpen = false;
  }

  #connect(): void {
    this.#timer = undefined;
    const socket = this.#parts.open();
    this.#socket = socket;
    socket.onopen = () => {
      this.#isOpen = true;
      this.#isAnswered = true;
      for (const channel of this.#listeners.keys()) this.#send({ type: 'subscribe', channel });
      this.#timer = setTimeout(() => this.#ping(), PING_MS);
    };
    socket.onmessage = ({ data }) => this.#receive(frameOf(data));
    socket.onclose = ({ code }) => this.#closed(socket, code);
  }

  #ping(): void {
    if (!this.#isAnswered) {
      this.#socket?.close();
      return;
    }
    this.#isAnswered = false;
    this.#send({ type: 'ping' });
    this.#timer = setTimeout(() => this.#ping(), PING_MS);
  }

  #send(frame: Readonly<Record<string, unknown>>): void {
    this.#lastId += 1;
    this.#socket?.send(JSON.stringify({ ...frame, id: this.#lastId }));
  }

  #receive({ type, channel, snapshot, event, data, reconnectAfterMs }: ServerFrame): void {
    this.#isAnswered = true;
    if (type === 'closing' && typeof reconnectAfterMs === 'number') this.#waitMs = reconnectAfterMs;
    if (typeof channel !== 'string') return;
    const listeners = [...(this.#listeners.get(channel) ?? [])];
    if (type === 'subscribed' && listeners.length > 0) {
      this.#failures = 0;
      this.#live.add(channel);
      for (const listener of listeners) listener.onSnapshot(snapshot);
      this.#changed();
    }
    if (type === 'event' && typeof event === 'string') for (const listener of listeners) listener.onEvent(event, data);
  }

  #closed(socket: Socket, code: number): void {
    if (this.#socket !== socket) return;
    const wasOpen = this.#isOpen;
    this.#reset();
    this.#live.clear();
    this.#changed();
    if (this.#listeners.size === 0) return;
    if (!wasOpen || code === SESSION_ENDED) this.#parts.onRefused();
    const { random = Math.random } = this.#parts;
    const growing = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures) * (0.5 + random() / 2);
    const leastMs = code === SESSION_ENDED ? AFTER_SESSION_MS : this.#waitMs;
    this.#timer = setTimeout(() => this.#connect(), Math.max(leastMs, growing));
    this.#failures += 1;
    this.#waitMs = 0;
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher();
  }
}

function frameOf(data: unknown): ServerFrame {
  try {
    const frame: unknown = typeof data === 'string' ? JSON.parse(data) : null;
    return typeof frame === 'object' && frame !== null ? frame : {};
  } catch {
    return {};
  }
}
