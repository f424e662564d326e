import { type DynamicModule, Module } from '@nestjs/common';
import { DemoController } from './demo/demo.controller.js';
import { Shop } from './demo/shop.js';
import { FeedController } from './feed/feed.controller.js';
import { PhoneFeed } from './feed/phone-feed.js';
import { HealthController } from './http/health.controller.js';
import { RbmAdminController } from './rbm/rbm-admin.controller.js';
import { RbmController } from './rbm/rbm.controller.js';
import { RbmService } from './rbm/rbm.service.js';
import { SmscController } from './smsc/smsc.controller.js';
import { SmscServer } from './smsc/smsc.server.js';

export interface SimulatorParts {
  readonly smsc: SmscServer;
  readonly rbm: RbmService;
  readonly feed: PhoneFeed;
  readonly shop: Shop;
}

@Module({})
export class SimulatorModule {
  static register({ smsc, rbm, feed, shop }: SimulatorParts): DynamicModule {
    return {
      module: SimulatorModule,
      controllers: [
        HealthController,
        SmscController,
        RbmAdminController,
        RbmController,
        FeedController,
        DemoController,
      ],
      providers: [
        { provide: SmscServer, useValue: smsc },
        { provide: RbmService, useValue: rbm },
        { provide: PhoneFeed, useValue: feed },
        { provide: Shop, useValue: shop },
      ],
    };
  }
}
