import { randomBytes } from 'node:crypto';
import { throttled, TokenBucket } from '@countersign/resilience';
import type { BusConnection, BusEvents } from './bus-connection.js';
import { decodeEnvelope, encodeEnvelope } from './request-envelope.js';
import type { Topic } from './topics.js';

/** Buffers are sent unchanged, any other value as JSON. No secrets in clear: the payload passes through the store. */
export type Payload = Buffer | string | number | boolean | object | null;

export interface BusMessage {
  readonly topic: string;
  readonly octets: Buffer;
  /** The payload parsed as JSON; undefined when it is not JSON, or empty, or when parsing has no time left. */
  json(): unknown;
}

/** The payload of a publish; nothing for a signal. */
type Published<P> = undefined extends P ? [payload?: P] : [payload: P];

/** A handler that throws is reported and called again for the next message. */
export type MessageHandler = (message: BusMessage) => void;

/** Answers a request; null leaves it to other processes. */
export type Answerer = (message: BusMessage) => Promise<Payload | null> | Payload | null;

export interface Subscription {
  /**
   * Resolves when messages published from now on will be received, or when the connection is unavailable; never
   * rejects.
   */
  readonly ready: Promise<void>;
  /** The handler is not called any more. */
  close(): void;
}

/** Topics of responses begin so. */
const REPLY_PREFIX = 'reply:';
/** Larger responses are neither sent nor given to a handler, and reported. */
export const MAX_MESSAGE_OCTETS = 4 * 1024 * 1024;
/** The same for every other message: those that the product publishes have at most some 100 KiB. */
export const MAX_PUBLISHED_OCTETS = 256 * 1024;
/** Time for parsing messages as JSON, so that forged ones cannot hold the process. */
const PARSING_MS_PER_SECOND = 200;
/** Letters and the characters of ids; no white space, which ends a topic in a notification. */
const TOPIC = /^[\w:.-]{1,200}$/;
/** Maximum number of pending requests; further ones resolve to null. */
const QUESTIONS_OPEN = 1_000;
const NOTHING = Buffer.alloc(0);

/**
 * Messages between processes by topic. Delivery is a hint: a message may be lost, so consumers also poll the rows.
 * Publishing never throws and never blocks; a process receives its own messages too.
 */
export class PubSub {
  readonly #connection: BusConnection;
  readonly #onError: (error: unknown) => void;
  readonly #handlers = new Map<string, Set<MessageHandler>>();
  readonly #joined = new Map<string, Promise<void>>();
  readonly #parsing = new TokenBucket(
    { perSecond: PARSING_MS_PER_SECOND, capacity: PARSING_MS_PER_SECOND },
    performance.now(),
  );
  readonly #questions = new Map<string, (answer: BusMessage) => void>();
  readonly #replyTopic = `${REPLY_PREFIX}${randomBytes(12).toString('hex')}`;
  #replies: Subscription | undefined;
  #closed = false;

  /** `onError` is called for lost messages and failing handlers, at most once a second. */
  constructor(openConnection: (events: BusEvents) => BusConnection, onError: (error: unknown) => void) {
    this.#onError = throttled(onError);
    this.#connection = openConnection({
      onMessage: (topic, octets) => this.deliver(topic, octets),
      onError: (error) => this.report(error),
    });
  }

  /** Call after the commit of the change. Without a payload it only signals a change. */
  publish<P extends Payload | undefined>(topic: Topic<P>, ...[payload]: Published<NoInfer<P>>): void {
    this.send(topic, payload === undefined ? NOTHING : octetsOf(payload));
  }

  /** Receives every message of the topic from `ready` on. A topic may have any number of handlers. */
  subscribe(topic: string, handler: MessageHandler): Subscription {
    if (!TOPIC.test(topic)) throw new Error(`no name of a topic: ${topic}`);
    const handlers = this.#handlers.get(topic) ?? new Set();
    // The same function may be subscribed twice, and each subscription closed separately.
    const own: MessageHandler = (message) => handler(message);
    handlers.add(own);
    this.#handlers.set(topic, handlers);
    const ready = this.#joined.get(topic) ?? this.#connection.join(topic);
    this.#joined.set(topic, ready);
    return { ready, close: () => this.drop(topic, own) };
  }

  /** The first answer of any process on the topic, or null when none arrived in time. Never rejects. */
  async ask<P extends Payload>(topic: Topic<P>, payload: NoInfer<P>, timeoutMs: number): Promise<BusMessage | null> {
    if (this.#closed || this.#questions.size >= QUESTIONS_OPEN) return null;
    const id = randomBytes(12).toString('hex');
    return new Promise((resolve) => {
      const settle = (answer: BusMessage | null): void => {
        clearTimeout(timer);
        this.#questions.delete(id);
        resolve(answer);
      };
      const timer = setTimeout(() => settle(null), timeoutMs);
      this.#questions.set(id, settle);
      this.#replies ??= this.subscribe(this.#replyTopic, (message) => this.receiveAnswer(message));
      const envelope = encodeEnvelope({ id, replyTo: this.#replyTopic, payload: octetsOf(payload) });
      void this.#replies.ready.then(() => {
        if (this.#questions.has(id)) this.send(topic, envelope);
      });
    });
  }

  /** Answers requests on the topic. A handler that throws is reported, and the request is not answered. */
  answer(topic: string, handler: Answerer): Subscription {
    return this.subscribe(topic, (message) => {
      const envelope = decodeEnvelope(message.octets);
      if (envelope?.replyTo.startsWith(REPLY_PREFIX) !== true) {
        this.report(new Error(`${topic}: a message that is no request`));
      } else {
        void this.reply(envelope.replyTo, envelope.id, async () => handler(this.messageOf(topic, envelope.payload)));
      }
    });
  }

  /** Stops sending and receiving; pending requests resolve to null. Resolves within a second. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#handlers.clear();
    await this.#connection.close();
  }

  private send(topic: string, octets: Buffer): void {
    if (this.#closed) return;
    if (!TOPIC.test(topic)) this.report(new Error(`no name of a topic: ${topic.slice(0, 200)}`));
    else if (octets.length > maxOctetsOf(topic))
      this.report(new Error(`${topic}: a message of ${octets.length} octets`));
    else this.#connection.send(topic, octets);
  }

  private async reply(topic: string, id: string, work: () => Promise<Payload | null>): Promise<void> {
    try {
      const answer = await work();
      if (answer !== null) this.send(topic, encodeEnvelope({ id, replyTo: '', payload: octetsOf(answer) }));
    } catch (error) {
      this.report(error);
    }
  }

  private receiveAnswer(message: BusMessage): void {
    const envelope = decodeEnvelope(message.octets);
    if (envelope !== null) this.#questions.get(envelope.id)?.(this.messageOf(message.topic, envelope.payload));
  }

  private drop(topic: string, handler: MessageHandler): void {
    const handlers = this.#handlers.get(topic);
    if (handlers?.delete(handler) !== true || handlers.size > 0) return;
    this.#handlers.delete(topic);
    this.#joined.delete(topic);
    if (!this.#closed) this.#connection.leave(topic);
  }

  private deliver(topic: string, octets: Buffer): void {
    if (octets.length > maxOctetsOf(topic)) {
      this.report(new Error(`${topic}: a message of ${octets.length} octets was received`));
      return;
    }
    const message = this.messageOf(topic, octets);
    for (const handler of this.#handlers.get(topic) ?? []) {
      try {
        handler(message);
      } catch (error) {
        this.report(error);
      }
    }
  }

  private messageOf(topic: string, octets: Buffer): BusMessage {
    return { topic, octets, json: () => this.parse(topic, octets) };
  }

  private parse(topic: string, octets: Buffer): unknown {
    const startMs = performance.now();
    if (this.#parsing.waitMs(startMs) > 0) {
      this.report(
        new Error(`${topic}: a message was not parsed, since others took ${PARSING_MS_PER_SECOND} ms a second`),
      );
      return undefined;
    }
    const value = parsed(octets);
    const endMs = performance.now();
    this.#parsing.take(endMs, endMs - startMs);
    return value;
  }

  private report(error: unknown): void {
    if (!this.#closed) this.#onError(error);
  }
}

const octetsOf = (payload: Payload): Buffer =>
  Buffer.isBuffer(payload) ? payload : Buffer.from(JSON.stringify(payload));

const maxOctetsOf = (topic: string): number =>
  topic.startsWith(REPLY_PREFIX) ? MAX_MESSAGE_OCTETS : MAX_PUBLISHED_OCTETS;

function parsed(octets: Buffer): unknown {
  try {
    return JSON.parse(octets.toString('utf8'));
  } catch {
    return undefined;
  }
}
