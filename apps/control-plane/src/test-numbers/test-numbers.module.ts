import { MessageStore } from '@countersign/carriers/inbound';
import { MtMessageStore } from '@countersign/carriers/outbound';
import { EventStore } from '@countersign/events';
import { DatabaseClock } from '@countersign/postgres';
import { Module } from '@nestjs/common';
import { provideClass } from '@countersign/composition';
import { TestAnswers } from './test-answers.js';
import { TestCodes } from './test-codes.js';
import { TestPhones } from './test-phones.js';

@Module({
  providers: [
    MessageStore,
    provideClass(MtMessageStore, EventStore, DatabaseClock),
    TestAnswers,
    TestCodes,
    TestPhones,
  ],
  exports: [TestPhones],
})
export class TestNumbersModule {}
