import type { RbmCommand, RbmCommandStore } from '@countersign/rcs/commands';
import { Timers, PollLoop } from '@countersign/schedule';
import type { CommandResult } from '../rbm/rbm-answer.js';

/** Poll interval for due commands whose job was lost: until it is revoked, a phone that reconnects shows a stale card. */
const POLL_INTERVAL_MS = 1_000;
/** Commands per claim, and in flight. */
const MAX_CLAIMED = 100;
const MAX_IN_FLIGHT = 500;
/** Longer than the timeout of a command. */
const LEASE_SECONDS = 10;

export interface RcsCommandProcessorOptions {
  readonly store: Pick<RbmCommandStore, 'claimDueCommands' | 'completeCommand' | 'retryCommand' | 'msToNextCommand'>;
  /** Sends the command to the platform. Must not reject. */
  readonly run: (command: RbmCommand) => Promise<CommandResult>;
  readonly onResult: (kind: RbmCommand['kind'], result: CommandResult) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Runs due commands to the platform: revokes of cards, and closing texts after taps. A command is claimed under a lease, so
 * that another gateway takes over when this one fails; a failed command is retried once.
 */
export class RcsCommandProcessor {
  private readonly inFlight = new Set<Promise<void>>();
  private readonly timers = new Timers(() => this.wake());
  private pollLoop: PollLoop | undefined;

  constructor(private readonly o: RcsCommandProcessorOptions) {}

  start(): void {
    const { onError } = this.o;
    this.pollLoop = new PollLoop({ everyMs: POLL_INTERVAL_MS, work: () => this.claimAndRun(), onError });
    this.pollLoop.trigger();
  }

  /** Polls now: a command may be due. Never throws, never waits. */
  wake(): void {
    this.pollLoop?.trigger();
  }

  /** Claims no further commands. */
  async stopClaiming(): Promise<void> {
    await this.pollLoop?.stop();
    this.pollLoop = undefined;
    this.timers.clear();
  }

  /** Resolves once every claimed command has been run. */
  async drain(): Promise<void> {
    await Promise.all(this.inFlight);
  }

  /** True when more commands may be due. */
  private async claimAndRun(): Promise<boolean> {
    const capacity = Math.min(MAX_CLAIMED, MAX_IN_FLIGHT - this.inFlight.size);
    if (capacity <= 0) return false;
    const commands = await this.o.store.claimDueCommands(capacity, LEASE_SECONDS);
    for (const command of commands) this.startCommand(command);
    if (commands.length === capacity) return true;
    const ms = await this.o.store.msToNextCommand();
    if (ms !== null && ms < POLL_INTERVAL_MS) this.timers.fireIn(Math.max(0, ms));
    return false;
  }

  private startCommand(command: RbmCommand): void {
    const ran = this.runCommand(command).finally(() => {
      this.inFlight.delete(ran);
      if (this.inFlight.size === MAX_IN_FLIGHT - 1) this.wake();
    });
    this.inFlight.add(ran);
  }

  /** Never rejects: a command whose result is not recorded runs again after its lease, which is harmless. */
  private async runCommand(command: RbmCommand): Promise<void> {
    try {
      const result = await this.o.run(command);
      this.o.onResult(command.kind, result);
      if (result === 'done') await this.o.store.completeCommand(command);
      else await this.retryLater(command);
    } catch (error) {
      this.o.onError(error);
    }
  }

  private async retryLater(command: RbmCommand): Promise<void> {
    await this.o.store.retryCommand(command);
    this.wake();
  }
}
