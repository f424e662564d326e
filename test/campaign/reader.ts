import { WebSocket } from 'ws';
import type { ReceivedEvent } from './history.js';

const RECONNECT_MS = 200;
/** A connection that is not welcomed by then is given up. */
const WELCOME_MS = 6_000;

interface Frame {
  readonly type: string;
  readonly id?: string;
  readonly event?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string };
}

/** Where it connects, and as whom. */
export interface ReaderOptions {
  readonly urls: readonly string[];
  readonly ca: Buffer;
  readonly key: string;
  readonly accountId: string;
}

/** Follows the events of an account over WebSocket: after each loss it resumes at the other control plane. */
export class RealtimeReader {
  readonly events: ReceivedEvent[] = [];
  /** Whether events were missed that could not be repeated, as the server said. */
  hasGap = false;
  isSubscribed = false;
  /** The last stored event, after which it resumes. */
  #lastStored: string | undefined;
  #connections = 0;
  #socket: WebSocket | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(private readonly options: ReaderOptions) {
    this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#socket?.terminate();
  }

  #connect(): void {
    const { urls, ca, key, accountId } = this.options;
    const socket = new WebSocket(urls[this.#connections++ % urls.length] ?? '', 'countersign.v1', {
      ca,
      headers: { authorization: `Bearer ${key}` },
    });
    this.#socket = socket;
    const tooLate = setTimeout(() => socket.terminate(), WELCOME_MS);
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString('utf8')) as Frame;
      if (frame.type === 'welcome') {
        clearTimeout(tooLate);
        const after = this.#lastStored;
        const resumeAfter = after === undefined ? {} : { resumeAfter: after };
        if (this.isSubscribed && after === undefined) this.hasGap = true;
        socket.send(JSON.stringify({ type: 'subscribe', id: 's', channel: `account:${accountId}`, ...resumeAfter }));
      }
      this.#note(frame);
    });
    socket.on('close', () => {
      clearTimeout(tooLate);
      if (!this.#isClosed) this.#retry = setTimeout(() => this.#connect(), RECONNECT_MS);
    });
  }

  #note({ type, id, event, data, error }: Frame): void {
    if (type === 'subscribed') this.isSubscribed = true;
    if (error?.code === 'RESUME_TOO_OLD') this.hasGap = true;
    if (type !== 'event' || id === undefined || event === undefined) return;
    // Not stored, so nothing is repeated after it.
    if (event !== 'verification.updated') this.#lastStored = id;
    this.events.push({ eventId: id, type: event, sessionId: textOf(data?.['id']), status: textOf(data?.['status']) });
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
