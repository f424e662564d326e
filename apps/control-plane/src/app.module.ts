import { queueConnection } from '@countersign/bus';
import { QUEUE_PREFIX } from '@countersign/events';
import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { AccountModule } from './account/account.module.js';
import { AdminModule } from './admin/admin.module.js';
import { CardsModule } from './cards/cards.module.js';
import { ConsoleModule } from './console/console.module.js';
import { ConsolePagesModule } from './console-pages/console-pages.module.js';
import { DocsModule } from './docs/docs.module.js';
import { HttpModule } from './http/http.module.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { OtpModule } from './otp/otp.module.js';
import { OutboxModule } from './outbox.module.js';
import { RealtimeModule } from './realtime/realtime.module.js';
import { type Opened, StoresModule } from './stores/stores.module.js';
import { TestNumbersModule } from './test-numbers/test-numbers.module.js';
import { UsageModule } from './usage/usage.module.js';
import { VerifyModule } from './verify/verify.module.js';
import { DeliveriesModule } from './webhooks/deliveries.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';
import { WorkersModule } from './workers.module.js';

/** The modules of the control plane. Each imports the stores, and the modules whose services it uses. */
@Module({})
export class AppModule {
  static of(opened: Opened): DynamicModule {
    const stores = StoresModule.of(opened);
    const over = (module: Type, ...used: DynamicModule[]): DynamicModule => ({ module, imports: [stores, ...used] });
    const http = over(HttpModule);
    const testNumbers = over(TestNumbersModule);
    const idempotency = over(IdempotencyModule);
    const deliveries = over(DeliveriesModule);
    const outbox = over(OutboxModule, deliveries);
    const webhooks = over(WebhooksModule, deliveries, outbox);
    const otp = over(OtpModule, testNumbers, idempotency);
    const connection = queueConnection(opened.settings, 'worker');
    return {
      module: AppModule,
      imports: [
        BullModule.forRoot('worker', { connection, prefix: QUEUE_PREFIX }),
        over(VerifyModule, testNumbers, idempotency, over(CardsModule)),
        over(UsageModule),
        otp,
        over(AdminModule, deliveries),
        webhooks,
        over(AccountModule, webhooks),
        over(ConsoleModule, http, otp),
        ConsolePagesModule,
        over(RealtimeModule, http),
        over(DocsModule),
        over(WorkersModule),
      ],
    };
  }
}
