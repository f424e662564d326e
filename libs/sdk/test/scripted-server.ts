import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type ClientOptions, CountersignClient } from '../src/client.js';
import type { FetchAnswer } from '../src/transport.js';

export const API_KEY = `csk_live_${'k'.repeat(38)}`;

/** The server's reaction to one request: an answer, a broken connection, or silence. */
export type Step =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | 'break'
  | 'silence';
export interface Seen {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const servers: Server[] = [];

/** A real server that follows the steps, and a client of it. The last step is repeated. */
export async function serverWith(
  steps: readonly Step[],
  options: Partial<ClientOptions> = {},
  onRequest: () => void = () => undefined,
): Promise<{ client: CountersignClient; seen: Seen[]; baseUrl: string }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const step = steps[Math.min(seen.length, steps.length - 1)] ?? 'silence';
      seen.push({
        line: `${request.method ?? ''} ${request.url ?? ''}`,
        headers: request.headers,
        body: Buffer.concat(parts).toString('utf8'),
      });
      onRequest();
      if (step === 'silence') return;
      if (step === 'break') return void request.socket.destroy();
      const text = typeof step.body === 'string' ? step.body : JSON.stringify(step.body);
      response
        .writeHead(step.status, { 'x-request-id': 'req_1', ...step.headers })
        .end(step.body === undefined ? '' : text);
    });
  });
  servers.push(server);
  const baseUrl = `http://127.0.0.1:${await portOf(server)}/`;
  return { client: new CountersignClient({ baseUrl, apiKey: API_KEY, ...options }), seen, baseUrl };
}

/** A response that was read completely. */
export async function textOf(response: Response): Promise<FetchAnswer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text: (): Promise<string> => Promise.resolve(text) };
}

/** Listens, and returns the port. */
export async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** For afterEach. */
export function closeServers(): void {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
}

export const ok = (body: unknown): Step => ({ status: 200, body });
export const refused = (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Step => ({
  status,
  headers,
  body: { error: { code, message: 'No.', docUrl: `https://localhost/docs/errors/${code}` } },
});
