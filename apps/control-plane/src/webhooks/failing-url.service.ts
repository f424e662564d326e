import { DefaultWebhookStore, type FailingDefault } from '@countersign/accounts/webhooks';
import { firstIdAt, type Uuid } from '@countersign/ids';
import { Database, DatabaseClock } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { EventJobNotifier } from '../notifiers/event-job.notifier.js';
import { SUCCEEDED_SINCE } from './default-url.sql.js';
import { DisabledUrlStore, lowestMsOf } from './disabled-url.store.js';

/** Deliveries read in one statement, by time: an account may have millions. The latest are read first. */
const SEARCH_STEP_MS = 15 * 60 * 1000;

/**
 * Disables a default URL that has failed for days. Its deliveries are searched for a success first, since notes of attempts
 * may be lost. The search holds no lock on the account.
 */
@Injectable()
export class FailingUrlService {
  constructor(
    private readonly database: Database,
    private readonly clock: DatabaseClock,
    private readonly defaults: DefaultWebhookStore,
    private readonly disabledUrls: DisabledUrlStore,
    @Inject(EventJobNotifier) private readonly notifier: Pick<EventJobNotifier, 'notify'>,
  ) {}

  async disableDefaultUrl(accountId: Uuid): Promise<void> {
    const { database, clock, defaults, disabledUrls } = this;
    const failing = await defaults.findFailing(database, accountId);
    if (failing === null) return;
    const searchedAtMs = clock.nowMs();
    if (await this.hasSucceeded(accountId, failing, searchedAtMs)) {
      await defaults.clearFailing(database, accountId, failing);
      return;
    }
    const eventId = await database.transaction((tx) => disabledUrls.disable(tx, accountId, failing, searchedAtMs));
    if (eventId !== null) this.notifier.notify([eventId]);
  }

  /** Whether a delivery to the URL succeeded since it began to fail, as far as committed when the search began. */
  private async hasSucceeded(accountId: Uuid, { url, since }: FailingDefault, searchedAtMs: number): Promise<boolean> {
    const lowestMs = lowestMsOf(since);
    // Ids may be ahead of the database's time by the clock error of a process.
    for (let endMs = searchedAtMs + SEARCH_STEP_MS; endMs > lowestMs; endMs -= SEARCH_STEP_MS) {
      const [low, high] = [firstIdAt(Math.max(lowestMs, endMs - SEARCH_STEP_MS)), firstIdAt(endMs)];
      const [found] = await this.database.query(SUCCEEDED_SINCE, [accountId, url, since, low, high]);
      if (found !== undefined) return true;
    }
    return false;
  }
}
