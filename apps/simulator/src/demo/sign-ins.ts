import { randomBytes } from 'node:crypto';
import { forgetOldest } from '../memory/forget-oldest.js';

/** A signed-in browser. */
export interface SignIn {
  readonly phone: string;
  /** The proof of the number. */
  readonly proof: 'card' | 'text' | 'code';
  readonly latencyMs: number | null;
}

const COOKIE = 'acme_visit';
const COOKIE_OCTETS = 24;
const COOKIE_SECONDS = 60 * 60;

/** The shop's own login sessions: one cookie each, bounded in number, the oldest removed first. */
export class SignIns {
  readonly #byCookie = new Map<string, SignIn>();

  constructor(private readonly limit: number) {}

  /** @returns the Set-Cookie header. Scripts of the page cannot read the cookie, other sites cannot send it. */
  add(signIn: SignIn): string {
    const value = randomBytes(COOKIE_OCTETS).toString('base64url');
    this.#byCookie.set(value, signIn);
    forgetOldest(this.#byCookie, this.limit);
    return `${COOKIE}=${value}; Path=/demo; HttpOnly; SameSite=Strict; Max-Age=${COOKIE_SECONDS}`;
  }

  find(cookieHeader: string | undefined): SignIn | null {
    return this.#byCookie.get(valueIn(cookieHeader)) ?? null;
  }

  /** @returns the Set-Cookie header that deletes the cookie */
  remove(cookieHeader: string | undefined): string {
    this.#byCookie.delete(valueIn(cookieHeader));
    return `${COOKIE}=; Path=/demo; HttpOnly; SameSite=Strict; Max-Age=0`;
  }
}

function valueIn(cookieHeader = ''): string {
  const pairs = cookieHeader.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1) ?? '';
}
