import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { WebSocket, type ClientOptions } from 'ws';
import type { ControlPlaneHarness } from './control-plane-harness.js';
import { until } from './until.js';

/** A message of the server. */
export type Said = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly data?: Readonly<Record<string, unknown>>;
  readonly snapshot?: Readonly<Record<string, unknown>> | null;
};

export interface Refused {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly code: string | undefined;
}

export interface Dial {
  /** Null sends none; the demo account's by default. */
  readonly key?: string | null;
  readonly path?: string;
  readonly baseUrl?: string;
  readonly protocols?: string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly options?: ClientOptions;
}

/** A plain WebSocket client that remembers what it was told. */
export class RealtimeClient {
  readonly said: Said[] = [];
  /** Null while it is open. */
  closed: { readonly code: number; readonly reason: string } | null = null;
  #next = 0;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.said.push(JSON.parse(data.toString('utf8')) as Said));
    socket.on('close', (code, reason) => (this.closed = { code, reason: reason.toString('utf8') }));
    socket.on('error', () => undefined);
  }

  /** A connection that has been welcomed. Rejects when the upgrade is refused. */
  static async open(harness: ControlPlaneHarness, dial: Dial = {}): Promise<RealtimeClient> {
    const client = new RealtimeClient(socketTo(harness, dial));
    client.socket.once('unexpected-response', (_request, response) => client.socket.emit('refused', response));
    await new Promise<void>((resolve, reject) => {
      client.socket.once('open', () => resolve());
      client.socket.once('close', () => reject(new Error('it did not open')));
      client.socket.once('refused', (response: IncomingMessage) =>
        reject(new Error(`it was refused with ${String(response.statusCode)}`)),
      );
    });
    await client.next('welcome');
    return client;
  }

  /** The response to a refused upgrade. */
  static async refused(harness: ControlPlaneHarness, dial: Dial = {}): Promise<Refused> {
    const socket = socketTo(harness, dial);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      socket.once('unexpected-response', (_request, answer) => resolve(answer));
      socket.once('open', () => reject(new Error('it was let in')));
      socket.on('error', reject);
    });
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const { error } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { error: { code: string } };
    return { status: response.statusCode ?? 0, headers: response.headers, code: error.code };
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  }

  /** The next message that was not asked for yet, of this type. */
  async next(type?: string): Promise<Said> {
    return found(`a message ${type ?? ''}`, () => {
      const at = this.said.findIndex(
        (said, index) => index >= this.#next && (type === undefined || said.type === type),
      );
      if (at === -1) return undefined;
      this.#next = at + 1;
      return this.said[at];
    });
  }

  async ask(message: Readonly<Record<string, unknown>>): Promise<Said> {
    const from = this.said.length;
    const isAnswer = (said: Said): boolean => said.type !== 'event' && said['id'] === message['id'];
    this.send(message);
    return found(`an answer to ${JSON.stringify(message)}`, () => this.said.slice(from).find(isAnswer));
  }

  /** The snapshot of a channel, or the error. */
  subscribe(channel: string, id = `s-${channel}`): Promise<Said> {
    return this.ask({ type: 'subscribe', id, channel });
  }

  /** The events of a kind so far. */
  events(event?: string): Said[] {
    return this.said.filter((said) => said.type === 'event' && (event === undefined || said['event'] === event));
  }

  async event(event: string): Promise<Said> {
    return found(event, () => this.events(event)[0]);
  }

  /** Settles once it holds and nothing more is on the way to this client: an answer comes after all that was said before. */
  async quiet(holds: () => boolean): Promise<void> {
    await until('what is waited for', PATIENCE_MS, holds);
    await this.ask({ type: 'ping', id: 'quiet' });
  }

  async end(): Promise<number> {
    return (await found('the end', () => this.closed ?? undefined)).code;
  }

  close(): void {
    this.socket.terminate();
  }
}

/** The clients of one spec, which are closed together. */
export class RealtimeClients {
  readonly #open: RealtimeClient[] = [];

  /** As `RealtimeClient.open`. */
  async connect(harness: ControlPlaneHarness, dial: Dial = {}): Promise<RealtimeClient> {
    const client = await RealtimeClient.open(harness, dial);
    this.#open.push(client);
    return client;
  }

  closeAll(): void {
    for (const client of this.#open.splice(0)) client.close();
  }
}

function socketTo(harness: ControlPlaneHarness, dial: Dial): WebSocket {
  const { key = harness.demo.apiKey, baseUrl = harness.baseUrl, headers = {}, protocols = ['countersign.v1'] } = dial;
  const url = `${baseUrl.replace(/^http/, 'ws')}${dial.path ?? '/v1/realtime'}`;
  const caFile = path.join(path.dirname(harness.environment['TLS_CERT_FILE'] ?? ''), 'ca.pem');
  return new WebSocket(url, protocols, {
    ca: readFileSync(caFile),
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
    ...dial.options,
  });
}

const PATIENCE_MS = 20_000;

async function found<T>(what: string, find: () => T | undefined): Promise<T> {
  let it: T | undefined;
  await until(what, PATIENCE_MS, () => (it = find()) !== undefined);
  if (it === undefined) throw new Error(`${what} was there and is not`);
  return it;
}
