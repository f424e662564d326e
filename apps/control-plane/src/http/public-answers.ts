import type { ServerResponse } from 'node:http';

/** Answers of public routes, which take no key: documents of up to a megabyte. */
const MAX_UNFINISHED = 32;

/**
 * Bounds the answers to callers without a key that are not sent to their end yet: one more destroys the connection of the
 * oldest. Callers that do not read what they asked for hold so many documents in memory and no more.
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
