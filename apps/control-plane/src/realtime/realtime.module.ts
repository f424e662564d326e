import { ControlPlaneSettings } from '@countersign/settings';
import { Module } from '@nestjs/common';
import { provide } from '@countersign/composition';
import { AccountChannelService } from './account-channel.service.js';
import { AccountEventPoller } from './account-event.poller.js';
import { AccountEventPublisher } from './account-event.publisher.js';
import { AccountSubscriptions } from './account-subscriptions.js';
import { BindStatusFeed } from './bind-status.feed.js';
import { ConsoleSessionPoller } from './console-session.poller.js';
import { KeyRevocationPoller } from './key-revocation.poller.js';
import { MissedEventPoller } from './missed-event.poller.js';
import { MissedEventPublisher } from './missed-event.publisher.js';
import { RealtimeAdapter } from './realtime.adapter.js';
import { RealtimeConnections } from './realtime-connections.js';
import { RealtimeGateway } from './realtime.gateway.js';
import { RealtimeHub } from './realtime.hub.js';
import { RealtimeLimits } from './realtime-limits.js';
import { RealtimeServer } from './realtime.server.js';
import { EventLoader, EventRenderer } from './rendered-event.js';
import { SessionSubscriptions } from './session-subscriptions.js';
import { SubscriptionService } from './subscription.service.js';
import { TicketService } from './ticket.service.js';
import { TicketStore } from './ticket.store.js';
import { TicketSweeper } from './ticket.sweeper.js';
import { TicketsController } from './tickets.controller.js';
import { UpgradeHandler } from './upgrade.handler.js';

@Module({
  controllers: [TicketsController],
  providers: [
    TicketStore,
    TicketService,
    TicketSweeper,
    SessionSubscriptions,
    AccountSubscriptions,
    AccountEventPoller,
    AccountEventPublisher,
    AccountChannelService,
    SubscriptionService,
    EventRenderer,
    EventLoader,
    RealtimeHub,
    MissedEventPoller,
    MissedEventPublisher,
    BindStatusFeed,
    provide(RealtimeLimits, [ControlPlaneSettings], (settings) => RealtimeLimits.ofProcess(settings)),
    RealtimeConnections,
    KeyRevocationPoller,
    ConsoleSessionPoller,
    RealtimeGateway,
    RealtimeAdapter,
    UpgradeHandler,
    RealtimeServer,
  ],
})
export class RealtimeModule {}
