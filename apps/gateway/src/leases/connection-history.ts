import { withEvent, type ConnectionEvent } from '@countersign/carriers/status';
import type { Uuid } from '@countersign/ids';

/** Reason of an end that its gateway could not record. */
const END_NOT_RECORDED = 'its gateway stopped, or could not renew its lease';

/** The last events of a connection, those that earlier holders have stored included. */
export class ConnectionHistory {
  #events: readonly ConnectionEvent[];
  #stored: readonly ConnectionEvent[];

  /** `earlier`: the stored events, oldest first. */
  constructor(
    earlier: readonly ConnectionEvent[],
    private readonly gatewayId: Uuid,
    private readonly now: () => string,
  ) {
    this.#events = earlier;
    this.#stored = earlier;
    const last = this.lastOfLink();
    if (last?.event !== 'bound' && last?.event !== 'draining') return;
    const { host, gatewayId: holder } = last;
    const ended = { event: 'unbound', at: now(), host, error: END_NOT_RECORDED, gatewayId: holder } as const;
    this.#events = withEvent(earlier, ended);
  }

  add(event: ConnectionEvent['event'], host: string | null, error: string | null): void {
    this.#events = withEvent(this.#events, { event, at: this.now(), host, error, gatewayId: this.gatewayId });
  }

  /** The end of a link; of an attempt that was given up nothing is recorded. */
  addEnd(host: string | null): void {
    const last = this.lastOfLink()?.event;
    if (last === 'bound' || last === 'draining') this.add('unbound', host, null);
  }

  /** The events to store; undefined when they are stored. */
  get unstored(): readonly ConnectionEvent[] | undefined {
    return this.#events === this.#stored ? undefined : this.#events;
  }

  /** Without errors of attempts beside the link, whose host is in their text. */
  private lastOfLink(): ConnectionEvent | undefined {
    return this.#events.findLast(({ event, host }) => event !== 'error' || host !== null);
  }

  /** Call when they were stored. */
  markStored(events: readonly ConnectionEvent[]): void {
    this.#stored = events;
  }
}
