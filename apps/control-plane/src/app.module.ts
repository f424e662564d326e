import { type DynamicModule, Module } from '@nestjs/common';
import { AdminModule } from './admin/admin.module.js';
import { CardsModule } from './cards/cards.module.js';
import { DocsModule } from './docs/docs.module.js';
import { OtpModule } from './otp/otp.module.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { RealtimeModule } from './realtime/realtime.module.js';
import { StoresModule } from './stores/stores.js';
import { TestNumbersModule } from './test-numbers/test-numbers.module.js';
import { UsageModule } from './usage/usage.module.js';
import { VerifyModule } from './verify/verify.module.js';
import { type WebhooksOptions, WebhooksModule } from './webhooks/webhooks.module.js';

/** The rooms of the control plane. */
@Module({})
export class AppModule {
  static over(options: WebhooksOptions): DynamicModule {
    const stores = StoresModule.of(options.stores);
    const testNumbers = TestNumbersModule.over(options);
    const idempotency = IdempotencyModule.over(options);
    return {
      module: AppModule,
      imports: [
        VerifyModule.over(
          stores,
          testNumbers,
          idempotency,
          CardsModule.over(options),
          options.settings.liveSessionsPerPhone,
        ),
        UsageModule.over(options),
        OtpModule.over(options, stores, testNumbers, idempotency),
        AdminModule.over(options),
        WebhooksModule.over(options),
        RealtimeModule.over(options),
        DocsModule.at(options.settings.publicBaseUrl),
      ],
    };
  }
}
