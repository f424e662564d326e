import { setTimeout as delay } from 'node:timers/promises';
import { CONNECT_TIMEOUT_MS } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { retryDelayMs } from './queue-connection.js';
import { type AnyRedis, openRedis } from './redis-client.js';
import type { BusConnection, BusEvents } from './bus-connection.js';

/** A Redis that hangs neither answers nor closes: the connection is then replaced. */
const COMMAND_TIMEOUT_MS = 2_000;
/** It does not answer QUIT either. */
const DISCONNECT_TIMEOUT_MS = 500;
const KEEP_ALIVE_MS = 10_000;
/** Ping interval: a connection that only listens would not notice a lost peer. */
const PING_EVERY_MS = 5_000;
/** Maximum pending messages and octets; further messages are dropped. */
const UNSETTLED_MESSAGES = 10_000;
const UNSETTLED_OCTETS = 16 * 1024 * 1024;
/** How long closing waits for the last messages. */
const CLOSE_TIMEOUT_MS = 1_000;
const PREFIX = 'countersign:bus:';

/** Redis publish/subscribe: one connection to publish, one to subscribe. */
export class RedisBus implements BusConnection {
  readonly #publisher: AnyRedis;
  readonly #listener: AnyRedis;
  /** Connections that are being replaced and are not closed yet. */
  readonly #ending = new Set<AnyRedis>();
  readonly #topics = new Set<string>();
  readonly #ping: PollLoop;
  readonly #unsettled = new Set<Promise<void>>();
  #unsettledOctets = 0;

  constructor(
    redisUrl: string,
    private readonly events: BusEvents,
  ) {
    this.#publisher = connectionTo(redisUrl);
    this.#listener = connectionTo(redisUrl);
    for (const redis of [this.#publisher, this.#listener]) {
      redis.on('error', (error) => events.onError(error)).on('close', () => this.#ending.delete(redis));
    }
    this.#listener.on('ready', () => void this.subscribe([...this.#topics]));
    this.#listener.on('messageBuffer', (channel: Buffer, octets: Buffer) => {
      events.onMessage(channel.toString('utf8').slice(PREFIX.length), octets);
    });
    this.#ping = new PollLoop({ everyMs: PING_EVERY_MS, work: () => this.ping(), onError: () => undefined });
  }

  send(topic: string, octets: Buffer): void {
    if (this.#unsettled.size >= UNSETTLED_MESSAGES || this.#unsettledOctets + octets.length > UNSETTLED_OCTETS) {
      this.events.onError(new Error('too many messages are on their way'));
      return;
    }
    const settled = this.publish(topic, octets).finally(() => this.#unsettled.delete(settled));
    this.#unsettled.add(settled);
  }

  async join(topic: string): Promise<void> {
    this.#topics.add(topic);
    // A new connection subscribes to all topics when it is ready.
    if (this.#listener.status === 'ready') await this.subscribe([topic]);
    else await this.settled();
  }

  leave(topic: string): void {
    this.#topics.delete(topic);
    if (this.#listener.status !== 'ready') return;
    this.#listener.unsubscribe(PREFIX + topic).catch((error: unknown) => this.events.onError(error));
  }

  async close(): Promise<void> {
    this.#topics.clear();
    await Promise.race([Promise.all([this.#ping.stop(), ...this.#unsettled]), delay(CLOSE_TIMEOUT_MS)]);
    this.#publisher.disconnect();
    this.#listener.disconnect();
  }

  private async publish(topic: string, octets: Buffer): Promise<void> {
    this.#unsettledOctets += octets.length;
    try {
      await this.#publisher.publish(PREFIX + topic, octets);
    } catch (error) {
      this.events.onError(error);
      // Commands buffered in a silent connection are discarded with it.
      this.renew(this.#publisher);
    } finally {
      this.#unsettledOctets -= octets.length;
    }
  }

  private async subscribe(topics: readonly string[]): Promise<void> {
    if (topics.length === 0) return;
    try {
      await this.#listener.subscribe(...topics.map((topic) => PREFIX + topic));
    } catch (error) {
      this.events.onError(error);
      this.renew(this.#listener);
    }
  }

  /** Until the pending connection has subscribed, or has failed. */
  private settled(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, CONNECT_TIMEOUT_MS);
      const settle = (): void => {
        clearTimeout(timer);
        this.#listener.off('ready', onReady).off('close', settle);
        resolve();
      };
      const onReady = (): void => void this.subscribe([...this.#topics]).then(settle);
      this.#listener.once('ready', onReady).once('close', settle);
    });
  }

  private renew(redis: AnyRedis): void {
    if (redis.status !== 'ready' || this.#ending.has(redis)) return;
    this.#ending.add(redis);
    redis.disconnect(true);
  }

  private async ping(): Promise<boolean> {
    if (this.#listener.status !== 'ready') return false;
    await this.#listener.ping().catch((error: unknown) => {
      this.events.onError(error);
      this.renew(this.#listener);
    });
    return false;
  }
}

/** Nothing is queued: messages that cannot be sent now are dropped, and topics are resubscribed by RedisBus. */
function connectionTo(redisUrl: string): AnyRedis {
  return openRedis(redisUrl, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
    keepAlive: KEEP_ALIVE_MS,
    retryStrategy: (times) => retryDelayMs(times, Math.random()),
  });
}
