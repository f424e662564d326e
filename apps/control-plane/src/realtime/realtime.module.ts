import type { ControlPlaneSettings } from '@countersign/settings';
import { type DynamicModule, Module } from '@nestjs/common';
import { Limits } from '../http/limits.js';
import type { FailureLog } from '../operations/failure-log.js';
import type { Stores } from '../stores.js';
import { BindBoard } from './bind-board.js';
import { PendingLook } from './pending-look.js';
import { RealtimeGateway } from './realtime.gateway.js';
import { RealtimeHub } from './realtime.hub.js';
import { RealtimeOptions } from './realtime-options.js';
import { SessionRooms } from './session-rooms.js';
import { realtimeUrl, TicketService } from './ticket.service.js';
import { TicketStore } from './ticket.store.js';
import { TicketsController } from './tickets.controller.js';
import { TidingsReader } from './tidings.js';

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
    const rooms = new SessionRooms();
    const look = new PendingLook({ ...stores, rooms });
    const onError = failures.about('telling live channels');
    const reader = new TidingsReader({ ...stores, onError });
    const hub = new RealtimeHub({ ...stores, reader, rooms, look, onError });
    const board = new BindBoard({ ...stores, onError: failures.about('telling of binds') });
    const options = new RealtimeOptions(failures.about('a message on a live channel'));
    return {
      module: RealtimeModule,
      controllers: [TicketsController],
      providers: [
        RealtimeGateway,
        { provide: TicketStore, useValue: tickets },
        { provide: TicketService, useValue: service },
        { provide: RealtimeHub, useValue: hub },
        { provide: BindBoard, useValue: board },
        { provide: Limits, useValue: new Limits(stores.limiter) },
        { provide: RealtimeOptions, useValue: options },
      ],
    };
  }
}
