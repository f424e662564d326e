import type { RbmCommand, RbmCommandStore } from '@countersign/rcs/commands';
import { LeasedWorker, type Claim } from '@countersign/schedule';
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
  private readonly worker: LeasedWorker<RbmCommand>;

  constructor(private readonly o: RcsCommandProcessorOptions) {
    this.worker = new LeasedWorker({
      intervalMs: POLL_INTERVAL_MS,
      maxInFlight: MAX_IN_FLIGHT,
      claim: (free) => this.claimCommands(Math.min(MAX_CLAIMED, free)),
      run: (command) => this.runCommand(command),
      onIdle: () => this.setTimer(),
      onError: o.onError,
    });
  }

  start(): void {
    this.worker.start();
  }

  /** Polls now: a command may be due. Never throws, never waits. */
  wake(): void {
    this.worker.trigger();
  }

  /** Claims no further commands. */
  stopClaiming(): Promise<void> {
    return this.worker.stopClaiming();
  }

  /** Resolves once every claimed command has been run. */
  drain(): Promise<void> {
    return this.worker.drain();
  }

  private async claimCommands(limit: number): Promise<Claim<RbmCommand>> {
    const jobs = await this.o.store.claimDueCommands(limit, LEASE_SECONDS);
    return { jobs, more: jobs.length === limit };
  }

  /** Runs a command that falls due before the next poll at its time. */
  private async setTimer(): Promise<void> {
    const ms = await this.o.store.msToNextCommand();
    if (ms !== null && ms < POLL_INTERVAL_MS) this.worker.triggerIn(Math.max(0, ms));
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
