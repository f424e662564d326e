import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received webhook: its headers and its exact text. */
export interface Received {
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  readonly atMs: number;
}

/** A caller's webhook endpoint on loopback. It responds with 200 by default. */
export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Sets the statuses of the next responses; after those, 200 again. */
  answerWith(...statuses: number[]): void;
  /** The number of sessions whose events were received. */
  sessionsSeen(): number;
  /** The distinct `webhook-id`s of a session's events. */
  eventIdsOf(sessionId: string): string[];
  close(): Promise<void>;
}

const sessionIdOf = (body: string): string => (JSON.parse(body) as { data: { id: string } }).data.id;

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const idsBySession = new Map<string, Set<string>>();
  const statuses: number[] = [];
  const server = http.createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      received.push({ headers: incoming.headers, body, atMs: performance.now() });
      const ids = idsBySession.get(sessionIdOf(body)) ?? new Set();
      idsBySession.set(sessionIdOf(body), ids.add(String(incoming.headers['webhook-id'])));
      outgoing.writeHead(statuses.shift() ?? 200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answerWith: (...next) => statuses.push(...next),
    sessionsSeen: () => idsBySession.size,
    eventIdsOf: (sessionId) => [...(idsBySession.get(sessionId) ?? [])],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
