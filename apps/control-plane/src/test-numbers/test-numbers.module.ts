import { MessageStore } from '@countersign/carriers/inbound';
import { MtMessageStore } from '@countersign/carriers/outbound';
import { type DynamicModule, Module } from '@nestjs/common';
import type { FailureLog } from '../operations/failure-log.js';
import type { Stores } from '../stores/stores.js';
import { TestAnswers } from './test-answers.js';
import { TestCodes } from './test-codes.js';
import { TestPhones } from './test-phones.js';

export interface TestNumbersParts {
  readonly stores: Stores;
  readonly failures: FailureLog;
}

@Module({})
export class TestNumbersModule {
  static over({ stores, failures }: TestNumbersParts): DynamicModule {
    const newId = () => stores.clock.newId();
    const mtMessages = new MtMessageStore({ events: stores.events, newId });
    const testPhones = new TestPhones({
      database: stores.database,
      answers: new TestAnswers({ ...stores, messages: new MessageStore() }),
      codes: new TestCodes({ ...stores, mtMessages }),
      onEvents: (ids) => stores.eventNotifier.notify(ids),
      onError: failures.about('a step of the test numbers'),
    });
    const providers = [{ provide: TestPhones, useValue: testPhones }];
    return { module: TestNumbersModule, providers, exports: providers };
  }
}
