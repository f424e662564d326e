import { Inject, Injectable } from '@nestjs/common';
import { RbmCommandStore, type RbmCommand } from '@countersign/rcs/commands';
import { Timers, PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../../injection/logger.token.js';
import { OnStart, OnStop } from '../../lifecycle/phases.js';
import { CardPlatform } from '../rbm/card-platform.js';
import { RcsMetrics } from '../rcs.metrics.js';
import { throttled } from './throttled.js';

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
  private readonly inFlight = new Set<Promise<void>>();
  private readonly timers = new Timers(() => this.trigger());
  private pollLoop: PollLoop | undefined;

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
  ) {}

  /** Without a platform this gateway leaves commands to other gateways. */
  @OnStart('start sending')
  start(): void {
    if (!this.platform.isConfigured) return;
    const [work, onError] = [() => this.claimAndRun(), this.report];
    this.pollLoop = new PollLoop({ everyMs: POLL_INTERVAL_MS, work, onError });
    this.pollLoop.trigger();
  }

  /** Polls now: a command may be due. Never throws, never waits. */
  trigger(): void {
    this.pollLoop?.trigger();
  }

  /** Claims no further commands. */
  @OnStop('stop sending')
  async stopClaiming(): Promise<void> {
    await this.pollLoop?.stop();
    this.pollLoop = undefined;
    this.timers.clear();
  }

  /** Resolves once every claimed command has been run. */
  @OnStop('unbind')
  async drain(): Promise<void> {
    await Promise.all(this.inFlight);
  }

  /** True when more commands may be due. */
  private async claimAndRun(): Promise<boolean> {
    const capacity = Math.min(MAX_CLAIMED, MAX_IN_FLIGHT - this.inFlight.size);
    if (capacity <= 0) return false;
    const commands = await this.store.claimDueCommands(capacity, LEASE_SECONDS);
    for (const command of commands) this.startCommand(command);
    if (commands.length === capacity) return true;
    const ms = await this.store.msToNextCommand();
    if (ms !== null && ms < POLL_INTERVAL_MS) this.timers.fireIn(Math.max(0, ms));
    return false;
  }

  private startCommand(command: RbmCommand): void {
    const ran = this.runCommand(command).finally(() => {
      this.inFlight.delete(ran);
      if (this.inFlight.size === MAX_IN_FLIGHT - 1) this.trigger();
    });
    this.inFlight.add(ran);
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
