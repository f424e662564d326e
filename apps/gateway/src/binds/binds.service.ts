import type { Bind, CarrierDirectory } from '@countersign/carriers';
import type { ServerKeys } from '@countersign/keys';
import { Periodic, type Uuid } from '@countersign/postgres';
import type { Logger } from '@countersign/telemetry';
import type { GatewayMetrics } from '../gateway.metrics.js';
import type { InboundService } from '../inbound/inbound.service.js';
import { BindSupervisor, type BindNote, type BindSender, type BindState } from './bind-supervisor.js';

/** A changed row is acted upon within this time (contract, Admin). */
export const RECONCILE_MS = 2_000;
/** What a link that is no longer wanted may take to answer what came in. */
const DRAIN_MS = 10_000;

export interface BindsOptions {
  readonly carriers: CarrierDirectory;
  readonly inbound: InboundService;
  readonly keys: ServerKeys;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
}

/**
 * Keeps the binds as their rows want them: new ones bound, changed ones made anew, removed and disabled ones unbound.
 * While the rows cannot be read everything stays as it is.
 */
export class BindsService {
  readonly #supervisors = new Map<Uuid, BindSupervisor>();
  /** Binds on their way out; one that is wanted again waits for its old link to be gone. */
  readonly #leaving = new Map<Uuid, Promise<void>>();
  readonly #onBound: (() => void)[] = [];
  #periodic: Periodic | undefined;

  constructor(private readonly o: BindsOptions) {}

  /** To send by this bind; null unless it is bound now and may send. */
  sender(bindId: Uuid): BindSender | null {
    return this.#supervisors.get(bindId)?.sender ?? null;
  }

  /** Hears of every bind that has just been bound. Must not throw. */
  onBound(listener: () => void): void {
    this.#onBound.push(listener);
  }

  /** Begins at once, and looks at the rows again every 2 s. */
  start(): void {
    this.#periodic = new Periodic({
      everyMs: RECONCILE_MS,
      work: () => this.reconcile(),
      onError: (error) => this.o.logger.warn({ err: error }, 'the binds could not be read'),
    });
    this.#periodic.nudge();
  }

  /** The binds and their states, for whoever watches. */
  states(): ReadonlyMap<Uuid, BindState> {
    return new Map([...this.#supervisors].map(([id, { state }]) => [id, state]));
  }

  /** No attempt is made and no row acted upon from here on; bound links stay. */
  async stopReconnecting(): Promise<void> {
    for (const supervisor of this.#supervisors.values()) supervisor.stopReconnecting();
    await this.#periodic?.stop();
  }

  /** Answers what came in, unbinds and closes every link, within the time given. */
  async unbindAll(withinMs: number): Promise<void> {
    const stopping = [...this.#supervisors.values()].map((supervisor) => supervisor.stop(withinMs));
    await Promise.all([...stopping, ...this.#leaving.values()]);
  }

  private async reconcile(): Promise<boolean> {
    const wanted = new Map<Uuid, Bind>();
    for (const bind of await this.o.carriers.listBinds()) if (bind.enabled) wanted.set(bind.id, bind);
    for (const [id, supervisor] of this.#supervisors) if (!wanted.has(id)) this.release(id, supervisor);
    for (const [id, bind] of wanted) {
      const known = this.#supervisors.get(id);
      if (known !== undefined) void known.adopt(bind, DRAIN_MS);
      else if (!this.#leaving.has(id)) this.#supervisors.set(id, this.supervise(bind));
    }
    return false;
  }

  private release(id: Uuid, supervisor: BindSupervisor): void {
    this.#supervisors.delete(id);
    const left = supervisor.stop(DRAIN_MS).finally(() => {
      this.#leaving.delete(id);
      this.o.metrics.moveLink('bind', supervisor.state, null);
    });
    this.#leaving.set(id, left);
  }

  private supervise(bind: Bind): BindSupervisor {
    this.o.metrics.moveLink('bind', null, 'unbound');
    return new BindSupervisor(bind, {
      keys: this.o.keys,
      onMessage: (pdu, link) => this.o.inbound.accept(pdu, link),
      onPdu: (direction, pdu) => this.o.metrics.countPdu('bind', direction, pdu),
      onState: (...change) => this.note(...change),
    });
  }

  private note(bind: Bind, from: BindState, to: BindState, note: BindNote): void {
    const { metrics, logger } = this.o;
    metrics.moveLink('bind', from, to);
    if (note.retryInMs !== undefined) metrics.reconnects.inc({ bind: bind.name });
    const level = to === 'bound' ? 'info' : note.retryInMs === undefined ? 'debug' : 'warn';
    if (to === 'bound') for (const heard of this.#onBound) heard();
    logger[level]({ bind: bind.name, carrier: bind.carrier, state: to, ...note }, 'bind');
  }
}
