import { AccountStore } from '@countersign/accounts/accounts';
import { AdminKeyStore } from '@countersign/accounts/admin-keys';
import { CodePrices, PriceStore } from '@countersign/accounts/prices';
import { CarrierStore } from '@countersign/carriers/config';
import { DestinationStore } from '@countersign/carriers/destinations';
import { AuditStore } from '@countersign/events';
import type { ControlPlaneSettings } from '@countersign/settings';
import { type DynamicModule, Module } from '@nestjs/common';
import { BodyConstraints } from '../http/body.pipe.js';
import { StoresModule, type Stores } from '../stores/stores.js';
import { IsWebhookTarget } from '../targets/webhook-target.constraint.js';
import { AccountResource } from './accounts/account.resource.js';
import { AccountsController } from './accounts/accounts.controller.js';
import { AdminDefaults } from './crud/admin-defaults.js';
import { AdminService } from './crud/admin.service.js';
import { AdminKeyResource } from './admin-keys/admin-key.resource.js';
import { AdminKeysController } from './admin-keys/admin-keys.controller.js';
import { AuditController } from './audit/audit.controller.js';
import { AuditedReads } from './crud/audited-reads.js';
import { BindResource } from './binds/bind.resource.js';
import { BindsController } from './binds/binds.controller.js';
import { BrandResource } from './brands/brand.resource.js';
import { BrandsController } from './brands/brands.controller.js';
import { DestinationResource } from './destinations/destination.resource.js';
import { DestinationsController } from './destinations/destinations.controller.js';
import { GatewaysController } from './gateways/gateways.controller.js';
import { InboundNumberResource } from './inbound-numbers/inbound-number.resource.js';
import { InboundNumbersController } from './inbound-numbers/inbound-numbers.controller.js';
import { KeyResource } from './keys/key.resource.js';
import { KeysController } from './keys/keys.controller.js';
import { MessageResource } from './messages/message.resource.js';
import { MessagesController } from './messages/messages.controller.js';
import { PriceResource } from './prices/price.resource.js';
import { PricesController } from './prices/prices.controller.js';
import { QueueResource } from './queues/queue.resource.js';
import { QueuesController } from './queues/queues.controller.js';
import { RouteResource } from './routes/route.resource.js';
import { RoutesController } from './routes/routes.controller.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { SmppSystemResource } from './smpp-systems/smpp-system.resource.js';
import { SmppSystemsController } from './smpp-systems/smpp-systems.controller.js';
import { TraceController } from './trace/trace.controller.js';
import { TraceResource } from './trace/trace.resource.js';
import { TraceService } from './trace/trace.service.js';

const EVERY_COUNTRY = ['*'];

export interface AdminOptions {
  readonly settings: Readonly<ControlPlaneSettings>;
  readonly stores: Stores;
}

/** The admin API for on-call engineers. A new resource is a folder here and two names in these lists. */
@Module({})
export class AdminModule {
  static over({ settings, stores }: AdminOptions): DynamicModule {
    const newId = (): string => stores.clock.newId();
    const { production, entropyKeys } = settings;
    const defaults = new AdminDefaults(production ? [] : EVERY_COUNTRY, Math.max(...entropyKeys.keys()));
    return {
      module: AdminModule,
      imports: [StoresModule.of(stores)],
      controllers: [
        AccountsController,
        BrandsController,
        KeysController,
        AdminKeysController,
        PricesController,
        DestinationsController,
        BindsController,
        SmppSystemsController,
        InboundNumbersController,
        RoutesController,
        GatewaysController,
        TraceController,
        QueuesController,
        MessagesController,
        SessionsController,
        AuditController,
      ],
      providers: [
        AdminService,
        AuditedReads,
        AccountResource,
        BrandResource,
        KeyResource,
        AdminKeyResource,
        PriceResource,
        DestinationResource,
        BindResource,
        SmppSystemResource,
        InboundNumberResource,
        RouteResource,
        TraceResource,
        TraceService,
        QueueResource,
        MessageResource,
        { provide: AccountStore, useValue: new AccountStore({ keys: stores.keys, newId }) },
        CodePrices,
        { provide: AdminKeyStore, useValue: new AdminKeyStore({ keys: stores.keys, newId }) },
        { provide: PriceStore, useValue: new PriceStore(newId) },
        { provide: CarrierStore, useValue: new CarrierStore({ keys: stores.keys, newId }) },
        { provide: DestinationStore, useValue: new DestinationStore(newId) },
        { provide: AuditStore, useValue: new AuditStore(newId) },
        { provide: AdminDefaults, useValue: defaults },
        { provide: BodyConstraints, useValue: new BodyConstraints([new IsWebhookTarget(stores.targetRules)]) },
      ],
    };
  }
}
