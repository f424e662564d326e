import { AdminKeyStore } from '@countersign/accounts/admin-keys';
import { MemberStore } from '@countersign/accounts/members';
import { CodePrices, PriceStore } from '@countersign/accounts/prices';
import { CarrierStore } from '@countersign/carriers/config';
import { Module } from '@nestjs/common';
import { provideStore } from '../composition/provide-store.js';
import { GuardPreviewService } from '../guard/guard-preview.service.js';
import { GuardStore } from '../guard/guard.store.js';
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
import { DeliveriesController } from './deliveries/deliveries.controller.js';
import { DeliveryResource } from './deliveries/delivery.resource.js';
import { DestinationResource } from './destinations/destination.resource.js';
import { DestinationsController } from './destinations/destinations.controller.js';
import { GatewaysController } from './gateways/gateways.controller.js';
import { InboundNumberResource } from './inbound-numbers/inbound-number.resource.js';
import { InboundNumbersController } from './inbound-numbers/inbound-numbers.controller.js';
import { KeyResource } from './keys/key.resource.js';
import { KeysController } from './keys/keys.controller.js';
import { MemberResource } from './members/member.resource.js';
import { MembersController } from './members/members.controller.js';
import { MessageResource } from './messages/message.resource.js';
import { MessagesController } from './messages/messages.controller.js';
import { OverviewStore } from '../usage/overview.store.js';
import { OverviewController } from './overview/overview.controller.js';
import { OverviewService } from './overview/overview.service.js';
import { PriceResource } from './prices/price.resource.js';
import { PricesController } from './prices/prices.controller.js';
import { QueueResource } from './queues/queue.resource.js';
import { QueuesController } from './queues/queues.controller.js';
import { RouteResource } from './routes/route.resource.js';
import { RouteResolutionController } from './route-resolution/route-resolution.controller.js';
import { BrandSenders } from './route-resolution/brand-senders.js';
import { RouteResolutionService } from './route-resolution/route-resolution.service.js';
import { RoutesController } from './routes/routes.controller.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { SmppSystemResource } from './smpp-systems/smpp-system.resource.js';
import { SmppSystemsController } from './smpp-systems/smpp-systems.controller.js';
import { TimelineController } from './timeline/timeline.controller.js';
import { TimelineRecords } from './timeline/timeline.records.js';
import { TimelineService } from './timeline/timeline.service.js';
import { TraceController } from './trace/trace.controller.js';
import { TraceResource } from './trace/trace.resource.js';
import { TraceService } from './trace/trace.service.js';

/** The admin API for on-call engineers. A new resource is a folder here and two names in these lists. */
@Module({
  controllers: [
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
    RouteResolutionController,
    GatewaysController,
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
    AdminService,
    AuditedReads,
    AccountResource,
    BrandResource,
    KeyResource,
    AdminKeyResource,
    MemberResource,
    PriceResource,
    DestinationResource,
    BindResource,
    SmppSystemResource,
    InboundNumberResource,
    RouteResource,
    BrandSenders,
    RouteResolutionService,
    GuardStore,
    GuardPreviewService,
    TraceResource,
    TraceService,
    TimelineRecords,
    TimelineService,
    OverviewStore,
    OverviewService,
    QueueResource,
    MessageResource,
    DeliveryResource,
    AdminDefaults,
    CodePrices,
    provideStore(PriceStore, ({ newId }) => new PriceStore(newId)),
    provideStore(AdminKeyStore, (parts) => new AdminKeyStore(parts)),
    provideStore(MemberStore, ({ newId }) => new MemberStore(newId)),
    provideStore(CarrierStore, (parts) => new CarrierStore(parts)),
  ],
})
export class AdminModule {}
