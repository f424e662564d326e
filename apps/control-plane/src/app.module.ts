import { type DynamicModule, Module } from '@nestjs/common';
import { DocsModule } from './docs/docs.module.js';
import { StoresModule } from './stores.js';
import { TestNumbersModule } from './test-numbers/test-numbers.module.js';
import { VerifyModule } from './verify/verify.module.js';
import { type WebhooksOptions, WebhooksModule } from './webhooks/webhooks.module.js';

/** The rooms of the control plane. */
@Module({})
export class AppModule {
  static over(options: WebhooksOptions): DynamicModule {
    const stores = StoresModule.of(options.stores);
    const testNumbers = TestNumbersModule.over(options);
    return {
      module: AppModule,
      imports: [
        VerifyModule.over(stores, testNumbers),
        WebhooksModule.over(options),
        DocsModule.at(options.settings.publicBaseUrl),
      ],
    };
  }
}
