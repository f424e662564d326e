import { readFrame, USUAL_HEARTBEAT_MS, type ClientMessage, type ServerFrame } from './realtime-frame.js';
import type { ConnectionEnd } from './realtime-retry.js';
import { httpStatusOf, type RealtimeSocket } from './realtime-socket.js';

export interface ConnectionEvents {
  /** It is authenticated: subscribe now. */
  ready(): void;
  /** Messages may go out again. */
  writable(): void;
  frame(frame: ServerFrame): void;
  /** Once, and the last. */
  end(end: ConnectionEnd): void;
}

/** From the first octet to being authenticated. */
const READY_WITHIN_MS = 10_000;
/** A ping of ours is answered within this, or the link is dead. */
const PONG_WITHIN_MS = 10_000;
/** Half of what the service takes, since what leaves evenly may arrive in a bunch. */
const MESSAGES_PER_SECOND = 10;
const NORMAL_CLOSURE = 1_000;
/** What RFC 6455, 7.4.1 calls a connection that was lost. */
const LOST = 1_006;

/** One WebSocket, from the upgrade to its end: authenticates, keeps to the service's pace, notices when it falls silent. */
export class RealtimeConnection {
  readonly #socket: RealtimeSocket;
  readonly #ticket: string | null;
  readonly #events: ConnectionEvents;
  #timer: ReturnType<typeof setTimeout>;
  #paceTimer: ReturnType<typeof setTimeout> | undefined;
  /** When the messages of the last second went out. */
  #sentAt: number[] = [];
  #heartbeatMs = USUAL_HEARTBEAT_MS;
  #readyAt: number | null = null;
  #httpStatus: number | null = null;
  #reconnectAfterMs: number | null = null;
  #ended = false;

  /** @param ticket to authenticate with; null when the upgrade carried a key */
  constructor(socket: RealtimeSocket, ticket: string | null, events: ConnectionEvents) {
    this.#socket = socket;
    this.#ticket = ticket;
    this.#events = events;
    this.#timer = setTimeout(() => this.drop(), READY_WITHIN_MS);
    socket.addEventListener('message', ({ data }) => this.#take(data));
    socket.addEventListener('error', ({ message }) => {
      this.#httpStatus = httpStatusOf(message);
    });
    socket.addEventListener('close', ({ code }) => this.#end(code));
  }

  /** False when the pace forbids it: `writable` is told when it may be tried again. */
  trySend(message: ClientMessage): boolean {
    if (this.#ended) return false;
    const now = performance.now();
    this.#sentAt = this.#sentAt.filter((at) => now - at < 1_000);
    const [oldest = now] = this.#sentAt;
    if (this.#sentAt.length >= MESSAGES_PER_SECOND) {
      this.#paceTimer ??= setTimeout(() => this.#resume(), 1_000 - (now - oldest));
      return false;
    }
    this.#send(message);
    return true;
  }

  /** For links that are dead or of no use: the other side may not answer a close any more, so nobody waits for it. */
  drop(): void {
    this.#end(LOST);
    this.#socket.close();
  }

  /** For good. */
  close(): void {
    this.#end(NORMAL_CLOSURE);
    this.#socket.close(NORMAL_CLOSURE);
  }

  #resume(): void {
    this.#paceTimer = undefined;
    this.#events.writable();
  }

  #send(message: ClientMessage): void {
    this.#sentAt.push(performance.now());
    this.#socket.send(JSON.stringify(message));
  }

  #take(data: unknown): void {
    if (this.#ended) return;
    if (this.#readyAt !== null) this.#expectMore();
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
    this.#expectMore();
    this.#events.ready();
  }

  /** The service's own pings are not seen by a page, so after a time of silence the client asks. */
  #expectMore(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), this.#heartbeatMs);
  }

  #ask(): void {
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
