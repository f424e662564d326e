import { BullModule } from '@nestjs/bullmq';
import { Module, type DynamicModule } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { queueConnection } from '@countersign/bus';
import { QUEUE_PREFIX, QUEUES } from '@countersign/events';
import { GatewaySettings } from '@countersign/settings';
import { Metrics, type Logger } from '@countersign/telemetry';
import { bindsProviders } from './binds/binds.providers.js';
import { inboundProviders } from './inbound/inbound.providers.js';
import { LOGGER } from './injection/logger.token.js';
import { leasesProviders } from './leases/leases.providers.js';
import { Lifecycle } from '@countersign/composition';
import { listenerProviders } from './listener/listener.providers.js';
import { operationsProviders } from './operations/operations.providers.js';
import { outbindProviders } from './outbind/outbind.providers.js';
import { outboundProviders } from './outbound/outbound.providers.js';
import { rcsProviders } from './rcs/rcs.providers.js';
import { receiptsProviders } from './receipts/receipts.providers.js';
import { recorderProviders } from './recorder/recorder.providers.js';
import { testMessagesProviders } from './test-messages/test-messages.providers.js';
import { storeProviders } from './stores/stores.providers.js';

/** All providers of the gateway. None opens a port or a link: `Lifecycle` does, in the order of the phases. */
@Module({})
export class GatewayModule {
  static register(settings: Readonly<GatewaySettings>, logger: Logger): DynamicModule {
    const connection = queueConnection(settings, 'producer');
    return {
      module: GatewayModule,
      imports: [
        BullModule.registerQueue({ name: QUEUES.webhooks, prefix: QUEUE_PREFIX, connection }),
        BullModule.forRoot('worker', { connection: queueConnection(settings, 'worker'), prefix: QUEUE_PREFIX }),
        DiscoveryModule,
      ],
      providers: [
        { provide: GatewaySettings, useValue: settings },
        { provide: LOGGER, useValue: logger },
        { provide: Metrics, useValue: new Metrics({ app: 'gateway' }) },
        Lifecycle,
        ...storeProviders,
        ...testMessagesProviders,
        ...receiptsProviders,
        ...inboundProviders,
        ...listenerProviders,
        ...bindsProviders,
        ...leasesProviders,
        ...recorderProviders,
        ...outbindProviders,
        ...outboundProviders,
        ...rcsProviders,
        ...operationsProviders,
      ],
    };
  }
}
