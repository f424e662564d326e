import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Arrivals, Orders } from '../receivers.js';
import { quantile } from '../statistics.js';

/**
 * Many receivers of webhooks in one process, each on a port of its own. They answer 200 at once, except for the hanging
 * ones; PORT serves the arrivals and their latencies.
 */
const RECEIVERS = Number(process.env['RECEIVERS']);
const TIMESTAMP = /"timestamp":"([^"]+)"/;

interface Host {
  received: number;
  firstMs: number;
  lastMs: number;
}

const hosts: Host[] = Array.from({ length: RECEIVERS }, () => ({ received: 0, firstMs: 0, lastMs: 0 }));
const held: http.ServerResponse[] = [];
const seen = new Set<string>();
let hanging: ReadonlySet<number> = new Set<number>();
let latenciesMs: number[] = [];
let sample: Arrivals['sample'] = { body: '', headers: {} };

const nowMs = (): number => performance.timeOrigin + performance.now();

/** Once per event: a repeat is answered and not counted. */
function note(at: number, request: http.IncomingMessage, body: string, firstOctetMs: number): void {
  const id = String(request.headers['webhook-id']);
  const host = hosts[at];
  if (seen.has(id) || host === undefined) return;
  seen.add(id);
  if (host.received === 0) host.firstMs = firstOctetMs;
  host.received += 1;
  host.lastMs = nowMs();
  latenciesMs.push(firstOctetMs - Date.parse(TIMESTAMP.exec(body)?.[1] ?? ''));
  if (seen.size === 1) sample = { body, headers: signing(request.headers) };
}

const signing = (headers: http.IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    ['content-type', 'user-agent', 'webhook-timestamp', 'webhook-signature'].map((name) => [
      name,
      String(headers[name]),
    ]),
  );

function receive(at: number, request: http.IncomingMessage, response: http.ServerResponse): void {
  const firstOctetMs = nowMs();
  if (hanging.has(at)) {
    request.resume();
    held.push(response);
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    note(at, request, Buffer.concat(chunks).toString(), firstOctetMs);
    response.writeHead(200).end();
  });
}

function listen(port: number, onRequest: http.RequestListener): Promise<number> {
  const server = http.createServer(onRequest);
  return new Promise((resolve) =>
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );
}

/** Resets the arrivals, answers the held requests, and sets the receivers that hang from now on. */
function obey(orders: Orders): void {
  hanging = new Set(orders.hanging);
  for (const response of held.splice(0)) response.writeHead(200).end();
  for (const host of hosts) Object.assign(host, { received: 0, firstMs: 0, lastMs: 0 });
  latenciesMs = [];
  seen.clear();
}

function arrivals(urls: readonly string[]): Arrivals {
  const sorted = [...latenciesMs].sort((a, b) => a - b);
  return { urls, hosts, p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99), sample };
}

const ports = await Promise.all(hosts.map((_, at) => listen(0, (request, response) => receive(at, request, response))));
const urls = ports.map((port) => `http://127.0.0.1:${port}/hook`);
await listen(Number(process.env['PORT']), (request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  request.on('end', () => {
    if (request.method === 'PUT') obey(JSON.parse(text) as Orders);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(arrivals(urls)));
  });
});
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
