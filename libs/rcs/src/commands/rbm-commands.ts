import { firstIdAt, ID_CLOCK_SLACK_MS, type Uuid } from '@countersign/ids';
import type { Database, DatabaseClock } from '@countersign/postgres';
import {
  END_COMMAND,
  GIVE_UP_COMMANDS,
  NEXT_COMMAND,
  RETRY_COMMAND,
  TAKE_COMMANDS,
  type RbmCommand,
} from './rbm-commands.sql.js';

/** An errand and one retry. */
const MAX_TRIES = 2;
const RETRY_PAUSE_SECONDS = 1;
/** So long after the end of its session nobody wants to read how it ended. */
const OF_USE_SECONDS = 60;
/** No errand is of use for longer than a session lives, but those that a long stop left behind are to be given up. */
const LOOK_BACK_MS = 24 * 60 * 60 * 1000;

/** What is still to be told to the platform, by any gateway. */
export class RbmCommands {
  constructor(
    private readonly database: Pick<Database, 'query' | 'transaction'>,
    private readonly clock: Pick<DatabaseClock, 'nowMs'>,
  ) {}

  async take(limit: number, leaseSeconds: number): Promise<RbmCommand[]> {
    const ofInterest = this.idsOfInterest();
    await this.database.query(GIVE_UP_COMMANDS, [...ofInterest, MAX_TRIES, OF_USE_SECONDS]);
    return this.database.query<RbmCommand>(TAKE_COMMANDS, [...ofInterest, limit, leaseSeconds]);
  }

  async done({ id, kind }: Pick<RbmCommand, 'id' | 'kind'>): Promise<void> {
    await this.database.query(END_COMMAND, [id, kind]);
  }

  async failed({ id, kind }: Pick<RbmCommand, 'id' | 'kind'>): Promise<void> {
    await this.database.query(RETRY_COMMAND, [id, kind, MAX_TRIES, RETRY_PAUSE_SECONDS]);
  }

  async msToNext(): Promise<number | null> {
    const [next] = await this.database.query<{ ms: number }>(NEXT_COMMAND, this.idsOfInterest());
    return next?.ms ?? null;
  }

  /** This is asked every second: the partitions of the days ahead are left alone. */
  private idsOfInterest(): [low: Uuid, firstFuture: Uuid] {
    const nowMs = this.clock.nowMs();
    return [firstIdAt(nowMs - LOOK_BACK_MS), firstIdAt(nowMs + ID_CLOCK_SLACK_MS)];
  }
}
