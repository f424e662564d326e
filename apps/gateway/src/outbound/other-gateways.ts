import type { PubSub } from '@countersign/bus';
import { bindsBoundElsewhere } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';

/** A gateway has looked at codes that another one can send better. */
const DEFERRED_TOPIC = 'outbound-left';
/** What other gateways are bound to is read no more often than this. */
const READ_EVERY_MS = 500;
/** One word in this time is enough: whoever hears it looks at everything that is due. */
const ANNOUNCE_EVERY_MS = 50;

/** A code is left to others for so long; whoever does not take it in that time is not what it seemed. */
const DEFER_FOR_MS = 3_000;
/** After this it is forgotten, and may be left again: it went another way meanwhile, or came back. */
const FORGOTTEN_AFTER_MS = 15_000;
const MAX_REMEMBERED = 10_000;

export interface OtherGatewaysOptions {
  readonly database: Executor;
  readonly bus: Pick<PubSub, 'publish' | 'subscribe'>;
  /** This gateway. */
  readonly self: Uuid;
}

/** What this gateway knows of the others as ways for codes, and how it leaves codes to them. */
export class OtherGateways {
  #binds: ReadonlySet<Uuid> = new Set();
  #readMs = -Infinity;
  #announcedMs = -Infinity;
  /** When each was first left to others, oldest first. */
  readonly #deferredMs = new Map<Uuid, number>();

  constructor(private readonly o: OtherGatewaysOptions) {}

  /** The binds that others can send by, half a second old at most. Rejects as the database does. */
  async boundBinds(): Promise<ReadonlySet<Uuid>> {
    const nowMs = performance.now();
    if (nowMs - this.#readMs >= READ_EVERY_MS) {
      this.#binds = await bindsBoundElsewhere(this.o.database, this.o.self);
      this.#readMs = nowMs;
    }
    return this.#binds;
  }

  /** Whether this code may be left to others, now. Counts from when it is first asked. */
  mayDefer(id: Uuid, nowMs: number): boolean {
    this.forget(nowMs);
    const sinceMs = this.#deferredMs.get(id);
    if (sinceMs !== undefined) return nowMs - sinceMs < DEFER_FOR_MS;
    if (this.#deferredMs.size >= MAX_REMEMBERED) return false;
    this.#deferredMs.set(id, nowMs);
    return true;
  }

  /** Tells the others that something is left to them. Where none hears it, it is found when they next look. */
  announceDeferred(): void {
    const nowMs = performance.now();
    if (this.#binds.size === 0 || nowMs - this.#announcedMs < ANNOUNCE_EVERY_MS) return;
    this.#announcedMs = nowMs;
    this.o.bus.publish(DEFERRED_TOPIC, this.o.self);
  }

  /** `heard`: others have left something. Must not throw. */
  onDeferred(listener: () => void): void {
    this.o.bus.subscribe(DEFERRED_TOPIC, (message) => {
      if (message.json() !== this.o.self) listener();
    });
  }

  private forget(nowMs: number): void {
    for (const [id, sinceMs] of this.#deferredMs) {
      if (nowMs - sinceMs < FORGOTTEN_AFTER_MS) return;
      this.#deferredMs.delete(id);
    }
  }
}
