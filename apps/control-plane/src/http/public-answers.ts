import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Unfinished responses of public routes (no API key) at a time; each has up to 1 MB. */
const MAX_UNFINISHED = 32;

/**
 * Limits the unfinished responses of public routes: one more destroys the connection of the oldest. Clients that do not
 * read their responses hold at most that many documents in memory.
 */
export class PublicAnswers {
  readonly #unfinished = new Map<ServerResponse, Socket>();

  constructor(private readonly most: number = MAX_UNFINISHED) {}

  track(response: ServerResponse, socket: Socket): void {
    this.#unfinished.set(response, socket);
    response.once('close', () => this.#unfinished.delete(response));
    const [oldest] = this.#unfinished;
    if (this.#unfinished.size <= this.most || oldest === undefined) return;
    const [its, itsSocket] = oldest;
    // Not left to its close: of a pipelined response whose turn on the socket never came, Node emits none.
    this.#unfinished.delete(its);
    itsSocket.destroy();
  }
}
