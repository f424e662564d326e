import type { ControlPlaneSettings } from '@countersign/settings';
import { type DynamicModule, Module } from '@nestjs/common';
import { Limits } from '../http/limits.js';
import type { FailureLog } from '../operations/failure-log.js';
import type { Stores } from '../stores/stores.js';
import { BindStatusFeed } from './bind-status.feed.js';
import { MissedEventPoller } from './missed-event.poller.js';
import { RealtimeGateway } from './realtime.gateway.js';
import { RealtimeHub } from './realtime.hub.js';
import { RealtimeOptions } from './realtime-options.js';
import { SessionSubscriptions } from './session-subscriptions.js';
import { realtimeUrl, TicketService } from './ticket.service.js';
import { TicketStore } from './ticket.store.js';
import { TicketsController } from './tickets.controller.js';
import { EventLoader } from './rendered-event.js';

export interface RealtimeModuleOptions {
  readonly settings: Readonly<ControlPlaneSettings>;
  readonly stores: Stores;
  readonly failures: FailureLog;
}

/** The realtime module. `Realtime` attaches its upgrade handler to the HTTP server. */
@Module({})
export class RealtimeModule {
  static over({ settings, stores, failures }: RealtimeModuleOptions): DynamicModule {
    const tickets = new TicketStore(stores.database, stores.keys);
    const service = new TicketService(stores.sessions, tickets, realtimeUrl(settings.publicBaseUrl));
    const sessionSubscriptions = new SessionSubscriptions();
    const missedEvents = new MissedEventPoller({ ...stores, sessionSubscriptions });
    const onError = failures.about('publishing realtime events');
    const eventLoader = new EventLoader({ ...stores, onError });
    const hub = new RealtimeHub({ ...stores, eventLoader, sessionSubscriptions, missedEvents, onError });
    const bindStatusFeed = new BindStatusFeed({ ...stores, onError: failures.about('polling bind status') });
    const options = new RealtimeOptions(failures.about('handling a realtime message'));
    return {
      module: RealtimeModule,
      controllers: [TicketsController],
      providers: [
        RealtimeGateway,
        { provide: TicketStore, useValue: tickets },
        { provide: TicketService, useValue: service },
        { provide: RealtimeHub, useValue: hub },
        { provide: BindStatusFeed, useValue: bindStatusFeed },
        { provide: Limits, useValue: new Limits(stores.limiter) },
        { provide: RealtimeOptions, useValue: options },
      ],
    };
  }
}
