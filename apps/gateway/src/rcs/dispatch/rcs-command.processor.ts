import { Inject, Injectable } from '@nestjs/common';
import { RbmCommandStore, type RbmCommand } from '@countersign/rcs/commands';
import { LeasedWorker, type Claim } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';
import { throttled } from '@countersign/resilience';
import { LOGGER } from '../../injection/logger.token.js';
import { OnStart, OnStop } from '../../composition/phases.js';
import { CardPlatform } from '../rbm/card-platform.js';
import { RcsMetrics } from '../rcs.metrics.js';

/** Poll interval for due commands whose job was lost: until it is revoked, a phone that reconnects shows a stale card. */
const POLL_INTERVAL_MS = 1_000;
/** Commands per claim, and in flight. */
const MAX_CLAIMED = 100;
const MAX_IN_FLIGHT = 500;
/** Longer than the timeout of a command. */
const LEASE_SECONDS = 10;

/**
 * Runs due commands to the platform: revokes of cards, and closing texts after taps. A command is claimed under a lease, so
 * that another gateway takes over when this one fails; a failed command is retried once.
 */
@Injectable()
export class RcsCommandProcessor {
  private readonly worker: LeasedWorker<RbmCommand>;
  private readonly report = throttled((err) =>
    this.logger.warn({ err }, 'RCS command processor: commands could not be claimed or recorded; retrying'),
  );

  constructor(
    @Inject(RbmCommandStore)
    private readonly store: Pick<
      RbmCommandStore,
      'claimDueCommands' | 'completeCommand' | 'retryCommand' | 'msToNextCommand'
    >,
    @Inject(CardPlatform) private readonly platform: Pick<CardPlatform, 'isConfigured' | 'runCommand'>,
    private readonly metrics: RcsMetrics,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {
    this.worker = new LeasedWorker({
      jobs: {
        claim: (free) => this.claimCommands(Math.min(MAX_CLAIMED, free)),
        run: (command) => this.runCommand(command),
        onIdle: () => this.setTimer(),
      },
      intervalMs: POLL_INTERVAL_MS,
      maxInFlight: MAX_IN_FLIGHT,
      onError: this.report,
    });
  }

  /** Without a platform this gateway leaves commands to other gateways. */
  @OnStart('start sending')
  start(): void {
    if (this.platform.isConfigured) this.worker.start();
  }

  /** Polls now: a command may be due. Never throws, never waits. */
  trigger(): void {
    this.worker.trigger();
  }

  /** Claims no further commands. */
  @OnStop('stop sending')
  stopClaiming(): Promise<void> {
    return this.worker.stopClaiming();
  }

  /** Resolves once every claimed command has been run. */
  @OnStop('unbind')
  drain(): Promise<void> {
    return this.worker.drain();
  }

  private async claimCommands(limit: number): Promise<Claim<RbmCommand>> {
    const jobs = await this.store.claimDueCommands(limit, LEASE_SECONDS);
    return { jobs, more: jobs.length === limit };
  }

  /** Runs a command that falls due before the next poll at its time. */
  private async setTimer(): Promise<void> {
    const ms = await this.store.msToNextCommand();
    if (ms !== null && ms < POLL_INTERVAL_MS) this.worker.triggerIn(Math.max(0, ms));
  }

  /** Never rejects: a command whose result is not recorded runs again after its lease, which is harmless. */
  private async runCommand(command: RbmCommand): Promise<void> {
    try {
      const result = await this.platform.runCommand(command);
      this.metrics.countCommand(command.kind, result);
      if (result === 'done') await this.store.completeCommand(command);
      else await this.retryLater(command);
    } catch (error) {
      this.report(error);
    }
  }

  private async retryLater(command: RbmCommand): Promise<void> {
    await this.store.retryCommand(command);
    this.trigger();
  }
}
