import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CONNECT_TIMEOUT_MS, connectionSettings } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { retryDelayMs } from './queue-connection.js';
import type { BusConnection, BusEvents } from './bus-connection.js';
import { FORGET_PAYLOADS, LISTEN, READ_PAYLOADS, SEND } from './postgres-bus.sql.js';

/** Format of a notification: the id of its payload, its number of octets, its topic. */
const NOTIFICATION = /^([\da-f-]{36}) (\d{1,9}) (\S+)$/;
const QUERY_TIMEOUT_MS = 2_500;
/** Probe interval: a connection that only listens would not notice a lost peer. */
const PROBE_EVERY_MS = 5_000;
const FORGET_EVERY_MS = 30_000;
/** One for writing, one for reading, so that heavy sending does not delay receiving. */
const CONNECTIONS = 2;
/** Ids of payloads that are remembered, so that each is read once, some 150 octets each. */
const REMEMBERED_PAYLOADS = 20_000;
/** How long closing waits for the last messages. */
const CLOSE_TIMEOUT_MS = 1_000;
/** Limits of the outbox and the inbox; the oldest messages are dropped. */
const WAITING_MESSAGES = 10_000;
const WAITING_OCTETS = 16 * 1024 * 1024;
/** Maximum number of messages per statement, unless they are large. */
const BATCH_MESSAGES = 100;
const BATCH_OCTETS = 4 * 1024 * 1024;

interface Item {
  readonly id: string;
  readonly topic: string;
  /** Octets of the payload. */
  readonly size: number;
}

interface Sent extends Item {
  readonly octets: Buffer;
}

/**
 * PostgreSQL notifications, for deployments without Redis. Notifications contain ids only: payloads are rows of an
 * unlogged table, read by processes that joined the topic. Needs a direct or session-pooled connection.
 */
export class PostgresBus implements BusConnection {
  readonly #pool: pg.Pool;
  readonly #topics = new Set<string>();
  readonly #outbox = new Waiting<Sent>();
  readonly #inbox = new Waiting<Item>();
  /** Payloads announced before: an id repeated in notifications costs no second reading. */
  readonly #announced = new LRUCache<string, true>({ max: REMEMBERED_PAYLOADS });
  readonly #forget: PollLoop;
  readonly #closing = new AbortController();
  readonly #listening: Promise<void>;
  /** Resolvers of pending joins, called when the connection listens or is unavailable. */
  readonly #joining = new Set<() => void>();
  #receives = false;
  #sending: Promise<void> | undefined;
  #reading: Promise<void> | undefined;

  constructor(
    private readonly databaseUrl: string,
    private readonly events: BusEvents,
  ) {
    this.#pool = new pg.Pool({ ...clientOptions(databaseUrl), max: CONNECTIONS });
    this.#pool.on('error', () => undefined);
    this.#forget = new PollLoop({
      everyMs: FORGET_EVERY_MS,
      work: async () => {
        await this.#pool.query(FORGET_PAYLOADS);
        return false;
      },
      onError: (error) => events.onError(error),
    });
    this.#listening = this.listen();
  }

  send(topic: string, octets: Buffer): void {
    this.add(this.#outbox, { id: randomUUID(), topic, size: octets.length, octets });
    this.#sending ??= this.sendAll().finally(() => (this.#sending = undefined));
  }

  async join(topic: string): Promise<void> {
    this.#topics.add(topic);
    if (!this.#receives && !this.#closing.signal.aborted)
      await new Promise<void>((resolve) => this.#joining.add(resolve));
  }

  leave(topic: string): void {
    this.#topics.delete(topic);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#topics.clear();
    const allDone = Promise.all([this.#sending, this.#reading, this.#forget.stop(), this.#listening]).then(() =>
      this.#pool.end(),
    );
    await Promise.race([allDone, delay(CLOSE_TIMEOUT_MS)]);
  }

  private add<T extends Item>(waiting: Waiting<T>, item: T): void {
    if (!waiting.add(item)) this.events.onError(new Error('too many messages are on their way'));
  }

  /** One statement at a time, so that messages keep their order; messages added meanwhile share the next one. */
  private async sendAll(): Promise<void> {
    await nextTurn();
    for (let batch = this.#outbox.take(); batch.length > 0; batch = this.#outbox.take()) {
      const full = batch.filter(({ size }) => size > 0);
      const words = batch.map(({ id, size, topic }) => `${id} ${size} ${topic}`);
      const values = [full.map(({ id }) => id), full.map(({ octets }) => octets), words];
      await this.#pool.query(SEND, values).catch((error: unknown) => this.events.onError(error));
    }
  }

  private receive(notification: string): void {
    const [, id, size, topic] = NOTIFICATION.exec(notification) ?? [];
    if (id === undefined || size === undefined || topic === undefined || !this.#topics.has(topic)) return;
    if (this.#announced.has(id)) return;
    this.#announced.set(id, true);
    this.add(this.#inbox, { id, size: Number(size), topic });
    this.#reading ??= this.readAll().finally(() => (this.#reading = undefined));
  }

  private async readAll(): Promise<void> {
    await nextTurn();
    for (let batch = this.#inbox.take(); batch.length > 0; batch = this.#inbox.take()) {
      try {
        const payloads = await this.payloadsOf(batch);
        for (const { id, size, topic } of batch) {
          const octets = size === 0 ? NOTHING : payloads.get(id);
          if (octets !== undefined && this.#topics.has(topic)) this.events.onMessage(topic, octets);
        }
      } catch (error) {
        this.events.onError(error);
      }
    }
  }

  private async payloadsOf(batch: readonly Item[]): Promise<Map<string, Buffer>> {
    const full = batch.filter(({ size }) => size > 0);
    if (full.length === 0) return new Map();
    const { rows } = await this.#pool.query<{ id: string; payload: Buffer }>(READ_PAYLOADS, [
      full.map(({ id }) => id),
      full.map(({ size }) => size),
    ]);
    return new Map(rows.map(({ id, payload }) => [id, payload]));
  }

  /** Keeps one connection listening until `close`. */
  private async listen(): Promise<void> {
    const { signal } = this.#closing;
    for (let failures = 1; !signal.aborted; failures++) {
      const client = new pg.Client(clientOptions(this.databaseUrl));
      try {
        await this.listenOn(client, () => (failures = 0));
      } catch (error) {
        this.events.onError(error);
      }
      // Pending joins resolve although the connection is unavailable; the next one listens for all topics anyway.
      this.settleJoins(false);
      void client.end().catch(() => undefined);
      await delay(retryDelayMs(failures, Math.random()), undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Runs until the connection is lost or silent, or `close`. */
  private async listenOn(client: pg.Client, onListening: () => void): Promise<void> {
    const turn = new AbortController();
    const signal = AbortSignal.any([turn.signal, this.#closing.signal]);
    client.on('error', (error) => {
      this.events.onError(error);
      turn.abort();
    });
    client.on('end', () => turn.abort());
    client.on('notification', ({ payload }) => this.receive(payload ?? ''));
    await client.connect();
    await client.query(LISTEN);
    onListening();
    this.settleJoins(true);
    while (await delay(PROBE_EVERY_MS, true, { signal, ref: false }).catch(() => false)) await client.query('SELECT 1');
  }

  private settleJoins(receives: boolean): void {
    this.#receives = receives;
    for (const settle of this.#joining) settle();
    this.#joining.clear();
  }
}

/** An ordered queue, bounded in number and octets. */
class Waiting<T extends Item> {
  #items: T[] = [];
  #octets = 0;

  /** False when older items were dropped. */
  add(item: T): boolean {
    this.#items.push(item);
    this.#octets += item.size;
    let kept = true;
    while (this.#items.length > WAITING_MESSAGES || this.#octets > WAITING_OCTETS) {
      this.#octets -= this.#items.shift()?.size ?? 0;
      kept = false;
    }
    return kept;
  }

  /** The items of one statement; empty when there are none. */
  take(): T[] {
    let count = 0;
    let octets = 0;
    for (const { size } of this.#items) {
      if (count >= BATCH_MESSAGES || (count > 0 && octets + size > BATCH_OCTETS)) break;
      count++;
      octets += size;
    }
    this.#octets -= octets;
    return this.#items.splice(0, count);
  }
}

const NOTHING = Buffer.alloc(0);

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function clientOptions(databaseUrl: string): pg.ClientConfig {
  return {
    ...connectionSettings(databaseUrl),
    application_name: 'countersign-bus',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    statement_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
  };
}
