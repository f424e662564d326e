import { AdminKeyStore } from '@countersign/accounts/admin-keys';
import { CodePrices, PriceStore } from '@countersign/accounts/prices';
import { CarrierStore } from '@countersign/carriers/config';
import { BindLeaseStore } from '@countersign/carriers/leases';
import { TestMessageStore } from '@countersign/carriers/test-messages';
import { provideClass } from '@countersign/composition';
import { DatabaseClock } from '@countersign/postgres';
import { Module } from '@nestjs/common';
import { StoreParts } from '../stores/store-parts.js';
import { GuardPreviewService } from '../guard/guard-preview.service.js';
import { AccountsController } from './accounts/accounts.controller.js';
import { AdminDefaults } from './crud/admin-defaults.js';
import { AdminKeysController } from './admin-keys/admin-keys.controller.js';
import { AuditController } from './audit/audit.controller.js';
import { AdminService } from './crud/admin.service.js';
import { CRUD_SERVICES } from './crud/crud-services.js';
import { BindHistoryController } from './bind-history/bind-history.controller.js';
import { BindsController } from './binds/binds.controller.js';
import { BrandsController } from './brands/brands.controller.js';
import { DeliveriesController } from './deliveries/deliveries.controller.js';
import { DeliveryResource } from './deliveries/delivery.resource.js';
import { DestinationsController } from './destinations/destinations.controller.js';
import { GatewaysController } from './gateways/gateways.controller.js';
import { InboundNumbersController } from './inbound-numbers/inbound-numbers.controller.js';
import { KeysController } from './keys/keys.controller.js';
import { MemberKeys } from './members/member-keys.js';
import { MembersController } from './members/members.controller.js';
import { MessageResource } from './messages/message.resource.js';
import { MessagesController } from './messages/messages.controller.js';
import { OverviewController } from './overview/overview.controller.js';
import { OverviewService } from './overview/overview.service.js';
import { PricesController } from './prices/prices.controller.js';
import { QueueResource } from './queues/queue.resource.js';
import { QueuesController } from './queues/queues.controller.js';
import { RouteResolutionController } from './route-resolution/route-resolution.controller.js';
import { BrandSenders } from './route-resolution/brand-senders.js';
import { RouteResolutionService } from './route-resolution/route-resolution.service.js';
import { RoutesController } from './routes/routes.controller.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { SmppSystemsController } from './smpp-systems/smpp-systems.controller.js';
import { TestMessageQueue } from './test-messages/test-message.queue.js';
import { TestMessageSweeper } from './test-messages/test-message.sweeper.js';
import { TestMessagesController } from './test-messages/test-messages.controller.js';
import { TestMessageService } from './test-messages/test-message.service.js';
import { TimelineController } from './timeline/timeline.controller.js';
import { TimelineRecords } from './timeline/timeline.records.js';
import { TimelineService } from './timeline/timeline.service.js';
import { TraceController } from './trace/trace.controller.js';
import { TraceResource } from './trace/trace.resource.js';
import { TraceService } from './trace/trace.service.js';

/** A new resource is a folder here and its controller in this list. */
const CRUD_CONTROLLERS = [
  AccountsController,
  BrandsController,
  KeysController,
  AdminKeysController,
  MembersController,
  PricesController,
  DestinationsController,
  BindsController,
  SmppSystemsController,
  InboundNumbersController,
  RoutesController,
];

/** The admin API for on-call engineers. */
@Module({
  controllers: [
    ...CRUD_CONTROLLERS,
    RouteResolutionController,
    GatewaysController,
    BindHistoryController,
    TestMessagesController,
    TraceController,
    QueuesController,
    MessagesController,
    DeliveriesController,
    SessionsController,
    TimelineController,
    OverviewController,
    AuditController,
  ],
  providers: [
    ...CRUD_CONTROLLERS.map(({ resourceClass }) => resourceClass),
    ...CRUD_SERVICES,
    MemberKeys,
    BrandSenders,
    RouteResolutionService,
    GuardPreviewService,
    TraceResource,
    TraceService,
    TimelineRecords,
    TimelineService,
    OverviewService,
    QueueResource,
    MessageResource,
    DeliveryResource,
    TestMessageStore,
    TestMessageQueue,
    TestMessageService,
    TestMessageSweeper,
    AdminDefaults,
    BindLeaseStore,
    CodePrices,
    provideClass(PriceStore, DatabaseClock),
    provideClass(AdminKeyStore, StoreParts),
    provideClass(CarrierStore, StoreParts),
  ],
  exports: [AdminService],
})
export class AdminModule {}
