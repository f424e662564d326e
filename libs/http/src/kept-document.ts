import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { codingOf, type Coding } from './accept-encoding.js';
import { compressed } from './compressed.js';
import { namesTag } from './entity-tag.js';

/** A status, headers and octets to send; no octets with 304. */
export interface DocumentAnswer {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/**
 * A document that is the same for every reader while this process runs. Each coding is computed once, when a reader first
 * asks for it; one that failed is computed again at the next request. For public texts only: the size of a compressed
 * answer with a secret and a caller's text in it reveals the secret (BREACH).
 */
export class KeptDocument {
  readonly #octets: Buffer;
  readonly #digest: string;
  readonly #codings = new Map<Coding, Promise<Buffer>>();

  constructor(
    text: string,
    private readonly compress = compressed,
  ) {
    this.#octets = Buffer.from(text);
    this.#digest = createHash('sha256').update(this.#octets).digest('base64url');
  }

  /** The answer to a GET or HEAD with these headers: compressed as they accept, 304 when they name its tag. */
  async answerTo(request: Pick<IncomingHttpHeaders, 'accept-encoding' | 'if-none-match'>): Promise<DocumentAnswer> {
    const coding = codingOf(request['accept-encoding']);
    // A strong tag differs between codings (RFC 9110, 8.8.3.3).
    const etag = `"${this.#digest}-${coding}"`;
    const headers = { etag, vary: 'Accept-Encoding' };
    if (namesTag(request['if-none-match'], etag)) return { status: 304, headers, body: undefined };
    if (coding === 'identity') return { status: 200, headers, body: this.#octets };
    return { status: 200, headers: { ...headers, 'content-encoding': coding }, body: await this.#in(coding) };
  }

  #in(coding: Exclude<Coding, 'identity'>): Promise<Buffer> {
    let found = this.#codings.get(coding);
    if (found === undefined) {
      found = this.compress(this.#octets, coding);
      this.#codings.set(coding, found);
      found.catch(() => this.#codings.delete(coding));
    }
    return found;
  }
}
