import type { FactoryProvider } from '@nestjs/common';
import { PubSub } from '@countersign/bus';
import { ServerKeys } from '@countersign/keys';
import { DatabaseClock, type Uuid } from '@countersign/postgres';
import { GATEWAY_ID } from '../gateway-id.token.js';
import { FlightRecorder } from './flight-recorder.js';
import { TraceDesk } from './trace-desk.js';

export const recorderProviders: FactoryProvider[] = [
  {
    provide: FlightRecorder,
    inject: [DatabaseClock],
    useFactory: (clock: DatabaseClock) => new FlightRecorder(() => clock.nowMs()),
  },
  {
    provide: TraceDesk,
    inject: [GATEWAY_ID, FlightRecorder, PubSub, ServerKeys],
    useFactory: (gatewayId: Uuid, recorder: FlightRecorder, bus: PubSub, keys: ServerKeys) =>
      new TraceDesk({ gatewayId, recorder, bus, keys }),
  },
];
