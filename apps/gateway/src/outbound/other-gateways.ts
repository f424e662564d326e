import { PubSub, TOPICS } from '@countersign/bus';
import { Inject, Injectable } from '@nestjs/common';
import { linksBoundElsewhere } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import { Database, type Executor } from '@countersign/postgres';
import { GATEWAY_ID } from '../injection/gateway-id.token.js';

/** Minimum time between reads of the links of other gateways. */
const READ_EVERY_MS = 500;
/** Minimum time between announcements; each makes the receivers poll all due messages. */
const ANNOUNCE_EVERY_MS = 50;

/** If no other gateway claims a code within this time, this gateway stops deferring it. */
const DEFER_FOR_MS = 3_000;
/** Time after which a code may be deferred again. */
const FORGOTTEN_AFTER_MS = 15_000;
const MAX_REMEMBERED = 10_000;

/** Binds and systems of other gateways, and the codes deferred to them. */
@Injectable()
export class OtherGateways {
  #links: ReadonlySet<Uuid> = new Set();
  #readMs = -Infinity;
  #announcedMs = -Infinity;
  /** Time at which each code was first deferred, oldest first. */
  readonly #deferredMs = new Map<Uuid, number>();

  constructor(
    @Inject(Database) private readonly database: Executor,
    @Inject(PubSub) private readonly bus: Pick<PubSub, 'publish' | 'subscribe'>,
    @Inject(GATEWAY_ID) private readonly self: Uuid,
  ) {}

  /** The ids of binds and systems that other gateways can send over, at most half a second old. Rejects with the database's error. */
  async boundLinks(): Promise<ReadonlySet<Uuid>> {
    const nowMs = performance.now();
    if (nowMs - this.#readMs >= READ_EVERY_MS) {
      this.#links = await linksBoundElsewhere(this.database, this.self);
      this.#readMs = nowMs;
    }
    return this.#links;
  }

  /** Whether this code may be left to other gateways now. The time starts with the first call. */
  mayDefer(id: Uuid, nowMs: number): boolean {
    this.evictExpired(nowMs);
    const sinceMs = this.#deferredMs.get(id);
    if (sinceMs !== undefined) return nowMs - sinceMs < DEFER_FOR_MS;
    if (this.#deferredMs.size >= MAX_REMEMBERED) return false;
    this.#deferredMs.set(id, nowMs);
    return true;
  }

  /** Notifies other gateways that codes are left to them. If the notification is lost, their next poll finds the codes. */
  announceDeferred(): void {
    const nowMs = performance.now();
    if (this.#links.size === 0 || nowMs - this.#announcedMs < ANNOUNCE_EVERY_MS) return;
    this.#announcedMs = nowMs;
    this.bus.publish(TOPICS.deferredCodes, this.self);
  }

  /** Registers a listener called when another gateway left codes to this one. Must not throw. */
  onDeferred(listener: () => void): void {
    this.bus.subscribe(TOPICS.deferredCodes, (message) => {
      if (message.json() !== this.self) listener();
    });
  }

  private evictExpired(nowMs: number): void {
    for (const [id, sinceMs] of this.#deferredMs) {
      if (nowMs - sinceMs < FORGOTTEN_AFTER_MS) return;
      this.#deferredMs.delete(id);
    }
  }
}
