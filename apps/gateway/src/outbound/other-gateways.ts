import type { PubSub } from '@countersign/bus';
import { bindsBoundElsewhere } from '@countersign/carriers';
import type { Executor, Uuid } from '@countersign/postgres';

/** A gateway has looked at codes that another one can send better. */
const LEFT_TOPIC = 'outbound-left';
/** What other gateways are bound to is read no more often than this. */
const READ_EVERY_MS = 500;
/** One word in this time is enough: whoever hears it looks at everything that is due. */
const SAY_EVERY_MS = 50;

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
}
