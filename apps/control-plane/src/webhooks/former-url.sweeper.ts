import { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';
import { FORGET_FORMER_URLS } from './account-url.sql.js';

const SWEEP_INTERVAL_MS = 5 * 60_000;
/** Rows in one statement at most; a full sweep is followed by the next at once. */
const MAX_SWEPT = 1_000;

/**
 * Deletes former URLs of accounts that no session may be older than: sessions go in whole days after the retention. Any number of
 * processes may sweep.
 */
@Injectable()
export class FormerUrlSweeper {
  private readonly loop: PollLoop;

  constructor(
    @Inject(Database) private readonly database: Pick<Database, 'query'>,
    @Inject(ControlPlaneSettings) private readonly settings: Pick<ControlPlaneSettings, 'retentionDays'>,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.loop = new PollLoop({
      everyMs: SWEEP_INTERVAL_MS,
      work: async () => (await this.sweep()) >= MAX_SWEPT,
      onError: failures.about('former webhook URL sweeper: deleting URLs'),
    });
    this.loop.trigger();
  }

  /** Resolves with the number of deleted URLs. */
  async sweep(): Promise<number> {
    const keptDays = this.settings.retentionDays + 1;
    return (await this.database.query(FORGET_FORMER_URLS, [keptDays, MAX_SWEPT])).length;
  }

  @OnStop('delivery maintenance')
  async stop(): Promise<void> {
    await this.loop.stop();
  }
}
