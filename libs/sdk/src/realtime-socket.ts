/** The WebSocket subprotocol of the service. */
export const SUBPROTOCOL = 'countersign.v1';

/** The used part of a WebSocket, which browsers, Node and npm `ws` all have. */
export interface RealtimeSocket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { readonly code: number }) => void): void;
  addEventListener(type: 'error', listener: (event: { readonly message?: string }) => void): void;
}

/** Opens a WebSocket with these headers in the upgrade; in a page there are none. */
export type ConnectSocket = (
  url: string,
  protocols: string[],
  headers: Readonly<Record<string, string>>,
) => RealtimeSocket;

type SocketClass = new (url: string, options: unknown) => RealtimeSocket;

const isClass = (value: unknown): value is SocketClass => typeof value === 'function';

/**
 * The global WebSocket of browsers and of Node from 22 on; Node's accepts headers beyond the standard.
 *
 * @throws TypeError where there is none
 */
export const connectGlobally: ConnectSocket = (url, protocols, headers) => {
  const Global = globalSocket();
  return Object.keys(headers).length === 0 ? new Global(url, protocols) : new Global(url, { protocols, headers });
};

/** Read at call time, so that a replacement of the global is used. */
export function globalSocket(): SocketClass {
  const found: unknown = Reflect.get(globalThis, 'WebSocket');
  if (isClass(found)) return found;
  throw new TypeError('There is no global WebSocket here: give `connect`, with npm `ws` for instance.');
}

/** @throws TypeError for a URL over which a key or a ticket could be read */
export function safeSocketUrl(text: string): string {
  const url = new URL(text);
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'wss:' && !(url.protocol === 'ws:' && local)) throw new TypeError('The url must be wss.');
  if (url.username !== '' || url.search !== '' || url.hash !== '') throw new TypeError('The url must be plain.');
  return url.href;
}

/** `ws` has the status in its error's text; browsers do not report it. */
export function httpStatusOf(message: string | undefined): number | null {
  const [, status] = /^Unexpected server response: (\d{3})$/.exec(message ?? '') ?? [];
  return status === undefined ? null : Number(status);
}
