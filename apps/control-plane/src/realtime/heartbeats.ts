/** Interval of protocol pings to one connection (contract, Realtime). */
export const HEARTBEAT_MS = 25_000;
const PONG_TIMEOUT_MS = 10_000;
const TICK_MS = 1_000;

/** A connection as the heartbeat uses it. */
export interface PingedConnection {
  nextPingMs: number;
  /** Time of the first ping without a response, by the same clock; null when there is none. */
  pingedMs: number | null;
  ping(): void;
  drop(): void;
}

/** Pings every connection on schedule and drops connections without a response: one timer for all of them. */
export class Heartbeats {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly connections: Iterable<PingedConnection>,
    private readonly nowMs: () => number,
  ) {}

  start(): void {
    this.#timer = setInterval(() => this.beat(), TICK_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  beat(): void {
    const nowMs = this.nowMs();
    for (const connection of this.connections) {
      if (connection.pingedMs !== null && nowMs - connection.pingedMs >= PONG_TIMEOUT_MS) connection.drop();
      else if (nowMs >= connection.nextPingMs) {
        connection.nextPingMs = nowMs + HEARTBEAT_MS;
        connection.pingedMs ??= nowMs;
        connection.ping();
      }
    }
  }
}
