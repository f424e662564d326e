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
 * Time that a reader waits for a coding at most. All files of a page are asked for at once by its first reader, and requests
 * have a deadline: a script that was answered 503 would leave that page blank.
 */
const MAX_CODING_WAIT_MS = 500;

/**
 * A document that is the same for every reader while this process runs. Each coding is computed once, when a reader first
 * asks for it; readers get the text itself while that takes long. One that failed is computed again at the next request.
 * For public texts only: the size of a compressed answer with a secret and a caller's text in it reveals the secret (BREACH).
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
    const accepted = codingOf(request['accept-encoding']);
    const known = this.#tagOf(accepted);
    if (namesTag(request['if-none-match'], known)) return { status: 304, headers: headersOf(known), body: undefined };
    const encoded = accepted === 'identity' ? null : await soon(this.#in(accepted));
    const coding = encoded === null ? 'identity' : accepted;
    // A strong tag differs between codings (RFC 9110, 8.8.3.3).
    const headers = headersOf(this.#tagOf(coding));
    if (encoded === null) return { status: 200, headers, body: this.#octets };
    return { status: 200, headers: { ...headers, 'content-encoding': coding }, body: encoded };
  }

  #tagOf(coding: Coding): string {
    return `"${this.#digest}-${coding}"`;
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

const headersOf = (etag: string): Readonly<Record<string, string>> => ({ etag, vary: 'Accept-Encoding' });

/** Null if it takes longer than a reader waits. */
async function soon(work: Promise<Buffer>): Promise<Buffer | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), MAX_CODING_WAIT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
