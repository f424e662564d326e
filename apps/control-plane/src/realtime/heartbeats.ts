/** Between two protocol pings to one connection, and how long its sign of life may take (contract, Realtime). */
export const HEARTBEAT_MS = 25_000;
const SILENCE_MS = 10_000;
const TICK_MS = 1_000;

/** What a heartbeat needs of a connection. */
export interface Beating {
  nextPingMs: number;
  /** When it was pinged and has not been heard of since; null where it has. */
  askedMs: number | null;
  ping(): void;
  drop(): void;
}

/** Pings every connection in its time and drops those that stay silent: one timer for all of them. */
export class Heartbeats {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly connections: Iterable<Beating>,
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
      if (connection.askedMs !== null && nowMs - connection.askedMs >= SILENCE_MS) connection.drop();
      else if (nowMs >= connection.nextPingMs) {
        connection.nextPingMs = nowMs + HEARTBEAT_MS;
        connection.askedMs ??= nowMs;
        connection.ping();
      }
    }
  }
}
