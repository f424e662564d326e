import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';

export interface Answer {
  /** 0 when the connection was lost before the answer. */
  readonly status: number;
  readonly body: string;
}

type OnAnswer = (answer: Answer) => void;

const HEAD_END = Buffer.from('\r\n\r\n');
const STATUS_AT = 'HTTP/1.1 '.length;
const LOST: Answer = { status: 0, body: '' };
/** Longer than any answer may take; a connection that is silent for this time is closed. */
const SILENCE_MS = 30_000;
const HANDSHAKES_AT_ONCE = 50;
const IDLE_POLL_MS = 20;
/** Answered without the database: it is no id of a session. */
const FIRST_PATH = '/v1/verify/none';

/** One keep-alive connection, one request at a time; parses only the needed parts of the answer. */
class PlainConnection {
  #pending: Buffer = Buffer.alloc(0);
  #onAnswer: OnAnswer | null = null;

  constructor(
    readonly socket: tls.TLSSocket,
    private readonly onEnd: () => void,
  ) {
    socket.on('data', (octets: Buffer) => this.#read(octets));
    socket.once('close', () => {
      this.#answer(LOST);
      this.onEnd();
    });
    socket.on('error', () => socket.destroy());
    socket.setTimeout(SILENCE_MS, () => socket.destroy());
  }

  send(octets: string, onAnswer: OnAnswer): void {
    this.#onAnswer = onAnswer;
    this.socket.write(octets);
  }

  #read(octets: Buffer): void {
    this.#pending = this.#pending.length === 0 ? octets : Buffer.concat([this.#pending, octets]);
    const headEnd = this.#pending.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#pending.toString('latin1', 0, headEnd);
    const bodyAt = headEnd + HEAD_END.length;
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#pending.length < bodyAt + length) return;
    const body = this.#pending.toString('utf8', bodyAt, bodyAt + length);
    this.#pending = Buffer.alloc(0);
    this.#answer({ status: Number(head.slice(STATUS_AT, STATUS_AT + 3)), body });
  }

  #answer(answer: Answer): void {
    const onAnswer = this.#onAnswer;
    this.#onAnswer = null;
    onAnswer?.(answer);
  }
}

/**
 * A cheap HTTPS client: keep-alive connections over TLS 1.3, opened beforehand; requests wait for a free connection.
 */
export class PlainCaller {
  readonly #free: PlainConnection[] = [];
  readonly #waiting: { readonly octets: string; readonly onAnswer: OnAnswer }[] = [];
  readonly #all = new Set<PlainConnection>();

  private constructor(
    private readonly port: number,
    private readonly authorization: string,
  ) {}

  static async open(port: number, authorization: string, connections: number): Promise<PlainCaller> {
    const caller = new PlainCaller(port, authorization);
    for (let made = 0; made < connections; made += HANDSHAKES_AT_ONCE) {
      const wave = Math.min(HANDSHAKES_AT_ONCE, connections - made);
      await Promise.all(Array.from({ length: wave }, () => caller.#connect()));
      // The server closes idle connections without a valid key beyond a thousand of one address.
      const authorized = (): Promise<void> =>
        new Promise((resolve) => caller.request('GET', FIRST_PATH, undefined, () => resolve()));
      await Promise.all(Array.from({ length: wave }, authorized));
    }
    return caller;
  }

  post(path: string, body: string, onAnswer: OnAnswer): void {
    this.request('POST', path, body, onAnswer);
  }

  request(method: 'GET' | 'POST', path: string, body: string | undefined, onAnswer: OnAnswer): void {
    const octets =
      `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${this.port}\r\nAuthorization: ${this.authorization}\r\n` +
      (body === undefined
        ? '\r\n'
        : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    const connection = this.#free.pop();
    if (connection === undefined) this.#waiting.push({ octets, onAnswer });
    else this.#send(connection, octets, onAnswer);
  }

  /** Whether a request would be sent at once. */
  get hasFree(): boolean {
    return this.#free.length > 0;
  }

  /** Resolves when every request has been answered, or its connection lost. */
  async idle(): Promise<void> {
    while (this.#free.length < this.#all.size) await delay(IDLE_POLL_MS);
  }

  close(): void {
    for (const { socket } of this.#all) socket.destroy();
  }

  #send(connection: PlainConnection, octets: string, onAnswer: OnAnswer): void {
    connection.send(octets, (answer) => {
      const next = answer.status === 0 ? undefined : this.#waiting.shift();
      if (next !== undefined) this.#send(connection, next.octets, next.onAnswer);
      else if (answer.status !== 0) this.#free.push(connection);
      onAnswer(answer);
    });
  }

  async #connect(): Promise<void> {
    const socket = tls.connect({
      host: '127.0.0.1',
      port: this.port,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.3',
    });
    socket.setNoDelay(true);
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.once('secureConnect', resolve);
    });
    const connection: PlainConnection = new PlainConnection(socket, () => this.#forget(connection));
    this.#all.add(connection);
    this.#free.push(connection);
  }

  /** Requests that wait when the last connection is lost fail with it. */
  #forget(connection: PlainConnection): void {
    this.#all.delete(connection);
    const at = this.#free.indexOf(connection);
    if (at >= 0) this.#free.splice(at, 1);
    if (this.#all.size === 0) for (const { onAnswer } of this.#waiting.splice(0)) onAnswer(LOST);
  }
}
