import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';

const KEEP_ALIVE_TIMEOUT_MS = 65_000;

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** A server on a free port of loopback; a request whose handler throws loses its connection. */
export async function serve(handle: Handler): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((req, res) => {
    handle(req, res).catch(() => res.destroy());
  });
  // Longer than any client's keep-alive, so that no idle connection is closed while it is reused.
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return { server, url: `http://127.0.0.1:${address.port}` };
}

/** Forwards a request and its answer unchanged. Aborted when the caller disconnects. */
export async function forward(url: string, req: IncomingMessage, res: ServerResponse, read?: Buffer): Promise<number> {
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  const { host: _host, connection: _connection, 'transfer-encoding': _chunked, ...headers } = req.headers;
  const body = read ?? (await buffer(req));
  const method = req.method === 'DELETE' ? 'DELETE' : 'POST';
  const answer = await request(url, { method, headers, body: body.length === 0 ? null : body, signal: gone.signal });
  const octets = Buffer.from(await answer.body.arrayBuffer());
  res.writeHead(answer.statusCode, { 'content-type': String(answer.headers['content-type'] ?? 'text/plain') });
  res.end(octets);
  return answer.statusCode;
}
