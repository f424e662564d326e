import { Inject, Injectable } from '@nestjs/common';
import { CardAnswers } from '@countersign/rcs/rules';
import { DatabaseClock } from '@countersign/postgres';
import { RcsEventProcessor } from '../dispatch/rcs-event.processor.js';
import { CardEventIntake } from './card-event-intake.js';
import { eventRecordOf } from './event-record.js';
import type { PlatformEvent } from './platform-event.js';

/** Stores events of the platform, and passes those that remain to be processed on to the processor. */
@Injectable()
export class PlatformEventReceiver {
  constructor(
    @Inject(CardAnswers) private readonly answers: Pick<CardAnswers, 'parsePostback'>,
    @Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    @Inject(CardEventIntake) private readonly intake: Pick<CardEventIntake, 'storeEvent'>,
    @Inject(RcsEventProcessor) private readonly processor: Pick<RcsEventProcessor, 'enqueue'>,
  ) {}

  /** Resolves once the event is stored. A repeat, and an event that was processed while it was stored, is not processed. */
  async storeEvent(event: PlatformEvent): Promise<void> {
    const record = eventRecordOf(event, { answers: this.answers, clock: this.clock });
    if (await this.intake.storeEvent(record)) this.processor.enqueue([record.id]);
  }
}
