import { queueConnection } from '@countersign/bus';
import { QUEUE_PREFIX } from '@countersign/events';
import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { AccountModule } from './account/account.module.js';
import { AdminModule } from './admin/admin.module.js';
import { ConsoleModule } from './console/console.module.js';
import { DocsModule } from './docs/docs.module.js';
import { EventsModule } from './events.module.js';
import { HttpModule } from './http/http.module.js';
import { OtpModule } from './otp/otp.module.js';
import { RealtimeModule } from './realtime/realtime.module.js';
import { type Opened, StoresModule } from './stores/stores.module.js';
import { UsageModule } from './usage/usage.module.js';
import { VerifyModule } from './verify/verify.module.js';
import { WorkersModule } from './workers.module.js';

/** The modules of the control plane. Each imports the stores, and the modules whose services it uses. */
@Module({})
export class AppModule {
  static of(opened: Opened): DynamicModule {
    const stores = StoresModule.of(opened);
    const over = (module: Type, ...used: DynamicModule[]): DynamicModule => ({ module, imports: [stores, ...used] });
    const http = over(HttpModule);
    const verify = over(VerifyModule);
    const otp = over(OtpModule, verify);
    const usage = over(UsageModule);
    const events = over(EventsModule);
    const admin = over(AdminModule, usage, events);
    const connection = queueConnection(opened.settings, 'worker');
    return {
      module: AppModule,
      imports: [
        BullModule.forRoot('worker', { connection, prefix: QUEUE_PREFIX }),
        verify,
        usage,
        otp,
        admin,
        events,
        over(AccountModule, admin, events),
        over(ConsoleModule, http, otp),
        over(RealtimeModule, http),
        over(DocsModule),
        over(WorkersModule),
      ],
    };
  }
}
