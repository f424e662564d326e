import { Inject, Injectable } from '@nestjs/common';
import { FailureLog } from '../operations/failure-log.js';
import type { Verdict } from './attempt.js';
import { AttemptObserver } from './attempt.observer.js';
import { DeliveryStore, type ClaimedDelivery } from './delivery.store.js';

/** Records attempts and reports the recorded ones. */
@Injectable()
export class AttemptRecorder {
  private readonly onError: (error: unknown) => void;

  constructor(
    @Inject(DeliveryStore) private readonly store: Pick<DeliveryStore, 'recordAttempt'>,
    @Inject(AttemptObserver) private readonly observer: Pick<AttemptObserver, 'onAttempt'>,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.onError = failures.about('webhook dispatcher: claiming, sending or recording deliveries');
  }

  /** Never rejects: an attempt without a record is repeated after the end of its lease (at-least-once delivery). */
  async recordAttempt(delivery: ClaimedDelivery, verdict: Verdict): Promise<void> {
    try {
      if (await this.store.recordAttempt(delivery, verdict)) this.observer.onAttempt(delivery, verdict);
    } catch (error) {
      this.onError(error);
    }
  }
}
