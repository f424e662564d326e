import { firstIdAt, ID_CLOCK_SLACK_MS, type Uuid } from '@countersign/ids';
import type { Database, DatabaseClock } from '@countersign/postgres';
import {
  CLAIM_DUE_COMMANDS,
  COMPLETE_COMMAND,
  EXPIRE_COMMANDS,
  NEXT_COMMAND,
  RETRY_COMMAND,
  type RbmCommand,
} from './rbm-command.sql.js';

/** A command and one retry. */
const MAX_TRIES = 2;
const RETRY_PAUSE_SECONDS = 1;
/** After the end of its session a command is of use for this long. */
const OF_USE_SECONDS = 60;
/** Longer than any command is of use, so that commands left behind by a long outage are found and expired. */
const LOOK_BACK_MS = 24 * 60 * 60 * 1000;

/** The commands to the platform that cards still have due; any gateway may claim them. */
export class RbmCommandStore {
  constructor(
    private readonly database: Pick<Database, 'query'>,
    private readonly clock: Pick<DatabaseClock, 'nowMs'>,
  ) {}

  /** Claims due commands. A command neither completed nor retried within the lease is due once more. */
  async claimDueCommands(limit: number, leaseSeconds: number): Promise<RbmCommand[]> {
    const idRange = this.idRange();
    await this.database.query(EXPIRE_COMMANDS, [...idRange, MAX_TRIES, OF_USE_SECONDS]);
    return this.database.query<RbmCommand>(CLAIM_DUE_COMMANDS, [...idRange, limit, leaseSeconds, OF_USE_SECONDS]);
  }

  async completeCommand({ id, kind }: Pick<RbmCommand, 'id' | 'kind'>): Promise<void> {
    await this.database.query(COMPLETE_COMMAND, [id, kind]);
  }

  /** Makes a failed command due once more, a second later; after its last try the command is dropped. */
  async retryCommand({ id, kind }: Pick<RbmCommand, 'id' | 'kind'>): Promise<void> {
    await this.database.query(RETRY_COMMAND, [id, kind, MAX_TRIES, RETRY_PAUSE_SECONDS]);
  }

  /** Milliseconds until a command is due, 0 when one is due now; null when there is none. */
  async msToNextCommand(): Promise<number | null> {
    const [next] = await this.database.query<{ ms: number }>(NEXT_COMMAND, this.idRange());
    return next?.ms ?? null;
  }

  /** Runs every second, so the range excludes the partitions of days ahead. */
  private idRange(): [low: Uuid, firstFuture: Uuid] {
    const nowMs = this.clock.nowMs();
    return [firstIdAt(nowMs - LOOK_BACK_MS), firstIdAt(nowMs + ID_CLOCK_SLACK_MS)];
  }
}
