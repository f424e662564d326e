import { readFrame, USUAL_HEARTBEAT_MS, type ClientMessage, type ServerFrame } from './realtime-frame.js';
import type { ConnectionEnd } from './realtime-retry.js';
import { httpStatusOf, type RealtimeSocket } from './realtime-socket.js';

export interface ConnectionEvents {
  /** Authenticated: subscribe now. */
  ready(): void;
  frame(frame: ServerFrame): void;
  /** Called once, and last. */
  end(end: ConnectionEnd): void;
}

/** From the start of the connection to its authentication. */
const READY_WITHIN_MS = 10_000;
/** A ping that is not answered within this time means a dead connection. */
const PONG_WITHIN_MS = 10_000;
/** Half of the service's limit, since messages sent evenly may arrive in bursts. */
const MESSAGES_PER_SECOND = 10;
const NORMAL_CLOSURE = 1_000;
/** The code of a lost connection (RFC 6455, 7.4.1). */
const LOST = 1_006;

/** One WebSocket, from the upgrade to its end: authenticates, respects the service's rate limit, detects silence. */
export class RealtimeConnection {
  readonly #socket: RealtimeSocket;
  readonly #ticket: string | null;
  readonly #events: ConnectionEvents;
  #timer: ReturnType<typeof setTimeout>;
  #paceTimer: ReturnType<typeof setTimeout> | undefined;
  /** Times of the messages of the last second. */
  #sentAt: number[] = [];
  #heartbeatMs = USUAL_HEARTBEAT_MS;
  #readyAt: number | null = null;
  #httpStatus: number | null = null;
  #reconnectAfterMs: number | null = null;
  #ended = false;

  /** @param ticket to authenticate with; null when the upgrade had a key */
  constructor(socket: RealtimeSocket, ticket: string | null, events: ConnectionEvents) {
    this.#socket = socket;
    this.#ticket = ticket;
    this.#events = events;
    this.#timer = setTimeout(() => this.drop(), READY_WITHIN_MS);
    socket.addEventListener('message', ({ data }) => this.#handleMessage(data));
    socket.addEventListener('error', ({ message }) => {
      this.#httpStatus = httpStatusOf(message);
    });
    socket.addEventListener('close', ({ code }) => this.#end(code));
  }

  /** False when the rate limit forbids it: `onWritable` is called once when it may be tried again. */
  trySend(message: ClientMessage, onWritable: () => void): boolean {
    if (this.#ended) return false;
    const now = performance.now();
    this.#sentAt = this.#sentAt.filter((at) => now - at < 1_000);
    const [oldest = now] = this.#sentAt;
    if (this.#sentAt.length >= MESSAGES_PER_SECOND) {
      this.#paceTimer ??= setTimeout(() => this.#resume(onWritable), 1_000 - (now - oldest));
      return false;
    }
    this.#send(message);
    return true;
  }

  /** Closes a dead or useless connection: the other side may not answer a close, so it is not awaited. */
  drop(): void {
    this.#end(LOST);
    this.#socket.close();
  }

  /** Closes permanently. */
  close(): void {
    this.#end(NORMAL_CLOSURE);
    this.#socket.close(NORMAL_CLOSURE);
  }

  #resume(onWritable: () => void): void {
    this.#paceTimer = undefined;
    onWritable();
  }

  #send(message: ClientMessage): void {
    this.#sentAt.push(performance.now());
    this.#socket.send(JSON.stringify(message));
  }

  #handleMessage(data: unknown): void {
    if (this.#ended) return;
    if (this.#readyAt !== null) this.#restartSilenceTimer();
    const frame = readFrame(data);
    if (frame === null) return;
    if (frame.type === 'welcome') this.#welcome(frame);
    else if (frame.type === 'authenticated') this.#ready();
    else if (frame.type === 'closing') this.#reconnectAfterMs = frame.reconnectAfterMs;
    else this.#events.frame(frame);
  }

  #welcome({ authenticated, heartbeatMs }: Extract<ServerFrame, { type: 'welcome' }>): void {
    this.#heartbeatMs = heartbeatMs;
    if (authenticated) this.#ready();
    else if (this.#ticket !== null) this.#send({ type: 'auth', id: 'auth', ticket: this.#ticket });
  }

  #ready(): void {
    if (this.#readyAt !== null) return;
    this.#readyAt = performance.now();
    this.#restartSilenceTimer();
    this.#events.ready();
  }

  /** A page does not see the service's own pings, so the client sends one after a time of silence. */
  #restartSilenceTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ping(), this.#heartbeatMs);
  }

  #ping(): void {
    this.#timer = setTimeout(() => this.drop(), Math.min(PONG_WITHIN_MS, this.#heartbeatMs));
    this.#send({ type: 'ping', id: 'ping' });
  }

  #end(code: number): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#paceTimer);
    this.#events.end({
      code,
      httpStatus: this.#httpStatus,
      reconnectAfterMs: this.#reconnectAfterMs,
      readyMs: this.#readyAt === null ? null : performance.now() - this.#readyAt,
    });
  }
}
