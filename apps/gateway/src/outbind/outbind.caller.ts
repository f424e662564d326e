import { isDeepStrictEqual } from 'node:util';
import type { SmppSystem } from '@countersign/carriers/config';
import type { Uuid } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from '@countersign/telemetry';
import { afterAttempt, INITIAL_STATE, type AttemptEnd, type ReconnectState } from '../binds/backoff.js';
import { OnStop } from '../composition/phases.js';
import { LOGGER } from '../injection/logger.token.js';
import { SystemCache } from '../listener/system-cache.js';
import type { CallEnd } from '../listener/system-links.js';
import { MtPlanner } from '../outbound/mt.planner.js';
import { OutbindDialer } from './outbind.dialer.js';

/** Time before the lease of a system that another gateway calls is asked for again. */
const CALLED_ELSEWHERE_MS = 1_000;

/** The calls of one system by this gateway. */
interface SystemCalls {
  /** As it was called last. */
  system: SmppSystem;
  state: ReconnectState;
  /** On the monotonic clock; Infinity while it is called or connected. */
  nextAtMs: number;
}

/**
 * Calls systems that have an `outbind` when a code has a route to one and no gateway has it connected: one gateway connects,
 * sends outbind (SMPP 3.4, 4.1.7), and the system binds. With the backoff and the standoff of binds.
 */
@Injectable()
export class OutbindCaller {
  readonly #calls = new Map<Uuid, SystemCalls>();
  readonly #stop = new AbortController();

  constructor(
    private readonly systems: SystemCache,
    private readonly dialer: OutbindDialer,
    planner: MtPlanner,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    planner.onUnconnected((systemId) => this.callIfDue(systemId));
  }

  /** Calls no further system; open connections stay. */
  @OnStop('stop sending')
  stopCalling(): void {
    this.#stop.abort();
  }

  private callIfDue(systemId: Uuid): void {
    const known = this.#calls.get(systemId);
    if (this.#stop.signal.aborted || known?.nextAtMs === Infinity) return;
    const system = this.systems.findById(systemId);
    if (system?.enabled !== true || system.outbind === null) return;
    const calls =
      known !== undefined && isSameCall(known.system, system) ? known : { system, state: INITIAL_STATE, nextAtMs: 0 };
    if (performance.now() < calls.nextAtMs) return;
    calls.system = system;
    calls.nextAtMs = Infinity;
    this.#calls.set(systemId, calls);
    void this.call(system, calls);
  }

  private async call(system: SmppSystem, calls: SystemCalls): Promise<void> {
    const { signal } = this.#stop;
    let waitMs = CALLED_ELSEWHERE_MS;
    try {
      if (await this.dialer.acquireLease(system)) {
        const end = await this.attempt(system);
        const next = afterAttempt(calls.state, end, 1, Math.random());
        calls.state = next.state;
        ({ waitMs } = next);
        if (signal.aborted) await this.dialer.releaseLease(system);
        // Renewed, so that other gateways do not call a system at once that this one has just failed to reach.
        else if (end.kind !== 'lost') await this.dialer.acquireLease(system);
      }
    } catch (err) {
      this.logger.warn({ err, systemId: system.systemId }, 'outbind: lease of a system could not be written; retrying');
    }
    calls.nextAtMs = performance.now() + waitMs;
  }

  private async attempt(system: SmppSystem): Promise<AttemptEnd> {
    const { systemId, outbind } = system;
    const at = { systemId, host: outbind?.host, port: outbind?.port };
    this.logger.info(at, 'outbind: system called');
    try {
      const end = endOf(await this.dialer.call(system, this.#stop.signal));
      if (end.kind !== 'lost') this.logger.warn({ ...at, end: end.kind }, 'outbind: system did not bind');
      return end;
    } catch (err) {
      this.logger.warn({ ...at, err }, 'outbind: system could not be called');
      return { kind: 'unreachable' };
    }
  }
}

/** Whether a call would be made and answered as before: a corrected row is called without the delay of the former one. */
const isSameCall = (one: SmppSystem, other: SmppSystem): boolean =>
  one === other ||
  isDeepStrictEqual(
    [one.outbind, one.outbindPasswordSealed, one.passwordDigest],
    [other.outbind, other.outbindPasswordSealed, other.passwordDigest],
  );

function endOf({ boundMs, refusedStatus }: CallEnd): AttemptEnd {
  if (boundMs !== null) return { kind: 'lost', boundMs };
  return refusedStatus === null ? { kind: 'unreachable' } : { kind: 'refused', status: refusedStatus };
}
