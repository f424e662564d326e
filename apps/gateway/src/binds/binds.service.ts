import { PubSub, TOPICS, type Subscription } from '@countersign/bus';
import { CarrierDirectory, type Bind } from '@countersign/carriers/config';
import type { LeaseSurvey } from '@countersign/carriers/leases';
import { Inject, Injectable } from '@nestjs/common';
import { PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { SlotClaims } from '../leases/slot-claims.js';
import { OnStart, OnStop } from '../composition/phases.js';
import { BindConnections } from './bind-connections.js';

/** Interval at which rows are read; a changed row takes effect within it (contract, Admin). */
const RECONCILE_MS = 2_000;
/** Minimum time between hand-overs, since each interrupts one connection. */
const HAND_OVER_EVERY_MS = 10_000;
/** Added to the remaining time of a lease, so that its row is read after the expiry. */
const EXPIRY_SLACK_MS = 50;

/**
 * Reconciles binds with their rows: one gateway claims and binds each wanted connection, changed connections reconnect,
 * connections of removed and disabled binds unbind. While the rows cannot be read, connections stay for as long as their
 * leases last.
 */
@Injectable()
export class BindsService {
  #handedOverMs = -Infinity;
  #mayClaim = true;
  #pollLoop: PollLoop | undefined;
  #subscription: Subscription | undefined;
  #expiryTimer: NodeJS.Timeout | undefined;
  readonly #rowListeners: ((binds: readonly Bind[]) => void)[] = [];

  constructor(
    private readonly carriers: CarrierDirectory,
    private readonly claims: SlotClaims,
    private readonly connections: BindConnections,
    private readonly bus: PubSub,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    connections.onEnded(() => this.#pollLoop?.trigger());
  }

  /** Registers a listener called with the rows of all binds after every read. Must not throw. */
  onRows(listener: (binds: readonly Bind[]) => void): void {
    this.#rowListeners.push(listener);
  }

  /** Reconciles at once, then every 2 s and after every notification on the bus. */
  @OnStart('open binds')
  start(): void {
    this.#pollLoop = new PollLoop({
      everyMs: RECONCILE_MS,
      work: () => this.reconcile(),
      onError: (error) => this.logger.warn({ err: error }, 'binds: rows could not be read; retrying'),
    });
    this.#subscription = this.bus.subscribe(TOPICS.binds, () => this.#pollLoop?.trigger());
    this.#pollLoop.trigger();
  }

  /** From now on claims no connection and applies no row. */
  @OnStop('stop reconnecting')
  async stopClaiming(): Promise<void> {
    this.#mayClaim = false;
    this.#subscription?.close();
    clearTimeout(this.#expiryTimer);
    await this.#pollLoop?.stop();
  }

  private async reconcile(): Promise<boolean> {
    // In this order, so that every surveyed connection has its bind row in the second read.
    const survey = await this.claims.survey();
    const binds = await this.carriers.listBinds();
    for (const listener of this.#rowListeners) listener(binds);
    const wanted = new Map(binds.filter(({ enabled }) => enabled).map((bind) => [bind.id, bind]));
    this.connections.applyRows(wanted);
    if (!this.#mayClaim) return false;
    await this.claims.claimShare(survey, (guard, events) => {
      const bind = wanted.get(guard.lease.bindId);
      // Disabled, deleted or waiting for an outbind since the survey: the lease is left to expire.
      return bind === undefined || bind.outbind !== null ? null : this.connections.openConnection(guard, bind, events);
    });
    this.handOverOne(survey);
    this.scheduleExpiryCheck(survey);
    return false;
  }

  /** Hands one connection over to a gateway below its share. */
  private handOverOne(survey: LeaseSurvey): void {
    const nowMs = performance.now();
    if (nowMs - this.#handedOverMs < HAND_OVER_EVERY_MS || this.connections.isAnyStopping) return;
    const slot = this.claims.slotToHandOver(survey);
    if (slot !== null && this.connections.handOver(slot)) this.#handedOverMs = nowMs;
  }

  /** Reconciles when the next lease of another gateway expires: a crashed gateway does not release its leases. */
  private scheduleExpiryCheck(survey: LeaseSurvey): void {
    clearTimeout(this.#expiryTimer);
    const nextMs = this.claims.msToExpiryElsewhere(survey);
    if (nextMs > RECONCILE_MS) return;
    this.#expiryTimer = setTimeout(() => this.#pollLoop?.trigger(), nextMs + EXPIRY_SLACK_MS);
    this.#expiryTimer.unref();
  }
}
