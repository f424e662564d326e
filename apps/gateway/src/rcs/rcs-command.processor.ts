import type { CardStore } from '@countersign/rcs';
import type { RbmCommand } from '@countersign/rcs/commands';
import { Timers, PollLoop } from '@countersign/schedule';
import type { CommandResult } from './rbm-answer.js';

/** How often everything is looked for whose ring was lost: a phone that comes back meanwhile shows a card in vain. */
const RELAY_INTERVAL_MS = 1_000;
/** Errands taken in one statement, and run at the same time, at most. */
const MAX_TAKEN = 100;
const MAX_UNDER_WAY = 500;
/** Longer than the platform is given to answer. */
const LEASE_SECONDS = 10;

export interface RcsCommandProcessorOptions {
  readonly cards: Pick<CardStore, 'takeCommands' | 'commandDone' | 'commandFailed' | 'msToNextCommand'>;
  /** Tells the platform. Must not reject. */
  readonly run: (errand: RbmCommand) => Promise<CommandResult>;
  readonly onResult: (kind: RbmCommand['kind'], told: CommandResult) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Tells the platform what is still to be told: that a card is not to be delivered any more, and what was decided by a tap.
 * Each is taken under a lease, so that a gateway that dies leaves it to another; what fails is tried once more.
 */
export class RcsCommandProcessor {
  private readonly underWay = new Set<Promise<void>>();
  private readonly alarms = new Timers(() => this.wake());
  private periodic: PollLoop | undefined;

  constructor(private readonly o: RcsCommandProcessorOptions) {}

  start(): void {
    const { onError } = this.o;
    this.periodic = new PollLoop({ everyMs: RELAY_INTERVAL_MS, work: () => this.look(), onError });
    this.periodic.trigger();
  }

  /** Something may be due. Never throws, never waits. */
  wake(): void {
    this.periodic?.trigger();
  }

  /** Takes no more. */
  async stopTaking(): Promise<void> {
    await this.periodic?.stop();
    this.periodic = undefined;
    this.alarms.clear();
  }

  /** Resolves once every errand that was taken is run. */
  async drain(): Promise<void> {
    await Promise.all(this.underWay);
  }

  /** True when more is waiting. */
  private async look(): Promise<boolean> {
    const room = Math.min(MAX_TAKEN, MAX_UNDER_WAY - this.underWay.size);
    if (room <= 0) return false;
    const commands = await this.o.cards.takeCommands(room, LEASE_SECONDS);
    for (const errand of commands) this.begin(errand);
    if (commands.length === room) return true;
    const ms = await this.o.cards.msToNextCommand();
    if (ms !== null && ms < RELAY_INTERVAL_MS) this.alarms.fireIn(Math.max(0, ms));
    return false;
  }

  private begin(errand: RbmCommand): void {
    const ran = this.run(errand).finally(() => {
      this.underWay.delete(ran);
      if (this.underWay.size === MAX_UNDER_WAY - 1) this.wake();
    });
    this.underWay.add(ran);
  }

  /** Never rejects: an errand whose end is not written comes again when its lease is over, which does no harm. */
  private async run(errand: RbmCommand): Promise<void> {
    try {
      const told = await this.o.run(errand);
      this.o.onResult(errand.kind, told);
      if (told === 'done') await this.o.cards.commandDone(errand);
      else await this.retryLater(errand);
    } catch (error) {
      this.o.onError(error);
    }
  }

  private async retryLater(errand: RbmCommand): Promise<void> {
    await this.o.cards.commandFailed(errand);
    this.wake();
  }
}
