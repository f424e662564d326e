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

/** The live channel. Its door is opened by `Realtime`, since it stands in the HTTP server. */
@Module({})
export class RealtimeModule {
  static over({ settings, stores, failures }: RealtimeModuleOptions): DynamicModule {
    const tickets = new TicketStore(stores.database, stores.keys);
    const service = new TicketService(stores.sessions, tickets, realtimeUrl(settings.publicBaseUrl));
    const sessionSubscriptions = new SessionSubscriptions();
    const look = new MissedEventPoller({ ...stores, sessionSubscriptions });
    const onError = failures.about('telling live channels');
    const reader = new EventLoader({ ...stores, onError });
    const hub = new RealtimeHub({ ...stores, reader, sessionSubscriptions, look, onError });
    const board = new BindStatusFeed({ ...stores, onError: failures.about('telling of binds') });
    const options = new RealtimeOptions(failures.about('a message on a live channel'));
    return {
      module: RealtimeModule,
      controllers: [TicketsController],
      providers: [
        RealtimeGateway,
        { provide: TicketStore, useValue: tickets },
        { provide: TicketService, useValue: service },
        { provide: RealtimeHub, useValue: hub },
        { provide: BindStatusFeed, useValue: board },
        { provide: Limits, useValue: new Limits(stores.limiter) },
        { provide: RealtimeOptions, useValue: options },
      ],
    };
  }
}
