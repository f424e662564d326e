import type { PubSub } from '@countersign/bus';
import { bindsBoundElsewhere } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';

/** A gateway has looked at codes that another one can send better. */
const LEFT_TOPIC = 'outbound-left';
/** What other gateways are bound to is read no more often than this. */
const READ_EVERY_MS = 500;
/** One word in this time is enough: whoever hears it looks at everything that is due. */
const SAY_EVERY_MS = 50;

/** A code is left to others for so long; whoever does not take it in that time is not what it seemed. */
const LEFT_FOR_MS = 3_000;
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
  #saidMs = -Infinity;
  /** When each was first left to others, oldest first. */
  readonly #left = new Map<Uuid, number>();

  constructor(private readonly o: OtherGatewaysOptions) {}

  /** The binds that others can send by, half a second old at most. Rejects as the database does. */
  async binds(): Promise<ReadonlySet<Uuid>> {
    const nowMs = performance.now();
    if (nowMs - this.#readMs >= READ_EVERY_MS) {
      this.#binds = await bindsBoundElsewhere(this.o.database, this.o.self);
      this.#readMs = nowMs;
    }
    return this.#binds;
  }

  /** Whether this code may be left to others, now. Counts from when it is first asked. */
  mayHave(id: Uuid, nowMs: number): boolean {
    this.forget(nowMs);
    const sinceMs = this.#left.get(id);
    if (sinceMs !== undefined) return nowMs - sinceMs < LEFT_FOR_MS;
    if (this.#left.size >= MAX_REMEMBERED) return false;
    this.#left.set(id, nowMs);
    return true;
  }

  /** Tells the others that something is left to them. Where none hears it, it is found when they next look. */
  leave(): void {
    const nowMs = performance.now();
    if (this.#binds.size === 0 || nowMs - this.#saidMs < SAY_EVERY_MS) return;
    this.#saidMs = nowMs;
    this.o.bus.publish(LEFT_TOPIC, this.o.self);
  }

  /** `heard`: others have left something. Must not throw. */
  onLeft(heard: () => void): void {
    this.o.bus.subscribe(LEFT_TOPIC, (message) => {
      if (message.json() !== this.o.self) heard();
    });
  }

  private forget(nowMs: number): void {
    for (const [id, sinceMs] of this.#left) {
      if (nowMs - sinceMs < FORGOTTEN_AFTER_MS) return;
      this.#left.delete(id);
    }
  }
}
