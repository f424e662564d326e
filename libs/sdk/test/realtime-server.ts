import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { PENDING } from './answers.js';
import { API_KEY } from './scripted-server.js';

type Json = Readonly<Record<string, unknown>>;

/** The server's answer to a subscribe; none for null. */
export type Subscribed = (channel: string, count: number) => Json | null;

interface Connection {
  readonly socket: WebSocket;
  readonly channels: Set<string>;
}

/** The realtime service by the contract, reduced, with controllable failures. */
export class RealtimeServer {
  /** Messages of all connections, in order of arrival. */
  readonly messages: Json[] = [];
  readonly upgrades: IncomingMessage[] = [];
  /** Arrival time of each message, in milliseconds. */
  readonly arrivals: number[] = [];
  readonly tickets = new Set<string>();
  sessions = new Map<string, Json>([[`session:${PENDING.id}`, PENDING]]);
  heartbeatMs = 25_000;
  answersPings = true;
  /** Replacements of the welcome, each used once. */
  readonly greetings: ((socket: WebSocket) => void)[] = [];
  answer: Subscribed = (channel) => ({ snapshot: this.sessions.get(channel) ?? null });
  readonly #connections = new Set<Connection>();
  readonly #http: Server;
  readonly #sockets: WebSocketServer;
  #subscribes = 0;

  private constructor() {
    this.#http = createServer((_request, response) => void response.writeHead(404).end());
    this.#sockets = new WebSocketServer({ noServer: true });
    this.#http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.upgrades.push(request);
      const { authorization } = request.headers;
      if (authorization !== undefined && authorization !== `Bearer ${API_KEY}`)
        return void socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      this.#sockets.handleUpgrade(request, socket, head, (opened) =>
        this.#welcome(opened, authorization !== undefined),
      );
    });
  }

  static async open(): Promise<RealtimeServer> {
    const server = new RealtimeServer();
    await once(server.#http.listen(0, '127.0.0.1'), 'listening');
    return server;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#http.address() as AddressInfo).port}/v1/realtime`;
  }

  get openCount(): number {
    return this.#connections.size;
  }

  /** Issues a ticket that is valid once. */
  issue(): { ticket: string; url: string } {
    const ticket = `rtk_${this.tickets.size + 1}`;
    this.tickets.add(ticket);
    return { ticket, url: this.url };
  }

  /** Sends an event to all subscribers. */
  publish(channel: string, id: string, event: string, data: unknown): void {
    const frame = { type: 'event', channel, id, event, timestamp: '2023-11-14T22:13:24.321Z', data };
    for (const { channels, socket } of this.#connections) if (channels.has(channel)) send(socket, frame);
  }

  /** Sends any frame to all connections. */
  say(frame: unknown): void {
    for (const { socket } of this.#connections) send(socket, frame);
  }

  /** Ends all connections: with a code, or abruptly without one. */
  end(code?: number): void {
    for (const { socket } of this.#connections) {
      if (code === undefined) socket.terminate();
      else socket.close(code);
    }
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
    this.#http.close();
    this.#http.closeAllConnections();
    await once(this.#http, 'close');
  }

  #welcome(socket: WebSocket, authenticated: boolean): void {
    const greeting = this.greetings.shift();
    socket.on('error', () => undefined);
    if (greeting !== undefined) {
      greeting(socket);
      return;
    }
    const connection = { socket, channels: new Set<string>() };
    this.#connections.add(connection);
    socket.on('close', () => this.#connections.delete(connection));
    socket.on('message', (octets: Buffer) =>
      this.#handleMessage(connection, JSON.parse(octets.toString('utf8')) as Json),
    );
    send(socket, { type: 'welcome', authenticated, heartbeatMs: this.heartbeatMs });
  }

  #handleMessage({ socket, channels }: Connection, message: Json): void {
    this.messages.push(message);
    this.arrivals.push(performance.now());
    const { type, id, ticket } = message;
    const channel = String(message['channel']);
    if (type === 'auth') {
      if (this.tickets.delete(String(ticket))) send(socket, { type: 'authenticated', id });
      else socket.close(4401);
    }
    if (type === 'ping' && this.answersPings) send(socket, { type: 'pong', id });
    if (type === 'unsubscribe') {
      channels.delete(channel);
      send(socket, { type: 'unsubscribed', id, channel });
    }
    if (type !== 'subscribe') return;
    this.#subscribes += 1;
    const answer = this.answer(channel, this.#subscribes);
    if (answer === null) return;
    if (!('error' in answer)) channels.add(channel);
    send(socket, { type: 'error' in answer ? 'error' : 'subscribed', id, channel, ...answer });
  }
}

function send(socket: WebSocket, frame: unknown): void {
  socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
}
