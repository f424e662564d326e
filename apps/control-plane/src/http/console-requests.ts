import type { IncomingMessage } from 'node:http';

/**
 * The console's API (contract, Admin): the API itself below `/console/api`, with a cookie instead of a key, and the calls
 * of the console alone. A `__Host-` cookie is only ever set by this host, over TLS, for all of its paths (RFC 6265bis).
 */
const PAGES = '/console';
const CONSOLE = `${PAGES}/api`;
export const SESSION_COOKIE = '__Host-countersign';
/** Read by `FastifyAdapter` as `rewriteUrl`, before a route is looked for. */
const consoleRequests = new WeakSet<IncomingMessage>();

/** The path of the API for a request to `/console/api/v1/…`, and any other path unchanged. Marks requests of the console. */
export function routedUrl(request: IncomingMessage): string {
  const { url = '/' } = request;
  if (isPageOfConsole(url)) return PAGES;
  if (!url.startsWith(`${CONSOLE}/`)) return url;
  consoleRequests.add(request);
  return url.startsWith(`${CONSOLE}/v1/`) ? url.slice(CONSOLE.length) : url;
}

/** Whether it is a page of the console, which the browser routes itself: neither an asset nor the API. */
const isPageOfConsole = (url: string): boolean =>
  url.startsWith(`${PAGES}/`) && !/^\/console\/(?:api|assets)(?:[/?]|$)/.test(url);

/** Whether the request was addressed to `/console/api`: a cookie authorizes it, and no key does. */
export const isConsoleRequest = (request: IncomingMessage): boolean => consoleRequests.has(request);

/** The path below which the caller has the API: `/console/api` with a cookie, otherwise none. */
export const basePathOf = (request: IncomingMessage): string => (isConsoleRequest(request) ? CONSOLE : '');

/** The value of one cookie of a Cookie header; null without it, and for several of that name. */
export function cookieOf(header: string | undefined, name: string = SESSION_COOKIE): string | null {
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  const [value = null] = values;
  return values.length === 1 ? value : null;
}

interface CookieOptions {
  readonly name?: string;
  readonly maxAgeSeconds: number;
  /** `Lax` where a page of another site must come back with it, such as an OpenID provider. */
  readonly sameSite?: 'Strict' | 'Lax';
}

export const setCookie = (
  value: string,
  { name = SESSION_COOKIE, maxAgeSeconds, sameSite = 'Strict' }: CookieOptions,
): string => `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; Secure; SameSite=${sameSite}`;

export const deleteCookie = (name: string = SESSION_COOKIE): string => setCookie('', { name, maxAgeSeconds: 0 });

interface BrowserHeaders {
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | string[] | undefined;
}

/**
 * Whether a write may come from a page of another site, by the headers that browsers add (Fetch standard). Other clients
 * send neither, and no cookie of somebody else.
 */
export function isForeignWrite(headers: BrowserHeaders, ownOrigin: string): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  return (origin !== undefined && origin !== ownOrigin) || (site !== undefined && site !== 'same-origin');
}
