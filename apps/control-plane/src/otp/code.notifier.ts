import type { Uuid } from '@countersign/ids';
import { DatabaseClock } from '@countersign/postgres';
import type { ReadyForCode } from '@countersign/session';
import { Inject, Injectable } from '@nestjs/common';
import { EventBroadcast, UPDATED } from '../events/event-broadcast.js';
import { MtJobNotifier } from '../notifiers/mt-job.notifier.js';
import { TestPhones } from '../test-numbers/test-phones.js';

/** Notifies the gateways, or the simulated carrier of test keys, and the realtime channels of queued codes. */
@Injectable()
export class CodeNotifier {
  constructor(
    @Inject(MtJobNotifier) private readonly gateways: Pick<MtJobNotifier, 'notify'>,
    @Inject(TestPhones) private readonly testPhones: Pick<TestPhones, 'submitQueuedCodes'>,
    @Inject(EventBroadcast) private readonly broadcast: Pick<EventBroadcast, 'publish'>,
    private readonly clock: DatabaseClock,
  ) {}

  /** Call after the commit. Never throws. */
  notify(messageId: Uuid, { session, now }: ReadyForCode): void {
    if (session.test) this.testPhones.submitQueuedCodes();
    else this.gateways.notify([messageId]);
    const { id: sessionId, accountId, test } = session;
    const event = { id: this.clock.newId(), type: UPDATED, sessionId, accountId, test, at: now.toISOString() } as const;
    this.broadcast.publish([event]);
  }
}
