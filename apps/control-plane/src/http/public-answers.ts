import type { ServerResponse } from 'node:http';

/** Unfinished responses of public routes (no API key) at a time; each has up to 1 MB. */
const MAX_UNFINISHED = 32;

/**
 * Limits the unfinished responses of public routes: one more destroys the connection of the oldest. Clients that do not
 * read their responses hold at most that many documents in memory.
 */
export class PublicAnswers {
  readonly #unfinished = new Set<ServerResponse>();

  constructor(private readonly most: number = MAX_UNFINISHED) {}

  track(response: ServerResponse): void {
    this.#unfinished.add(response);
    response.once('close', () => this.#unfinished.delete(response));
    const [oldest] = this.#unfinished;
    if (this.#unfinished.size > this.most) oldest?.destroy();
  }
}
