import { MessageStore } from '@countersign/carriers/inbound';
import { MtMessageStore } from '@countersign/carriers/outbound';
import { EventStore } from '@countersign/events';
import { DatabaseClock } from '@countersign/postgres';
import { Module } from '@nestjs/common';
import { provide } from '@countersign/composition';
import { TestAnswers } from './test-answers.js';
import { TestCodes } from './test-codes.js';
import { TestPhones } from './test-phones.js';

@Module({
  providers: [
    MessageStore,
    provide(
      MtMessageStore,
      [EventStore, DatabaseClock],
      (events, clock) => new MtMessageStore({ events, newId: () => clock.newId() }),
    ),
    TestAnswers,
    TestCodes,
    TestPhones,
  ],
  exports: [TestPhones],
})
export class TestNumbersModule {}
