import type { FactoryProvider } from '@nestjs/common';
import { PubSub } from '@countersign/bus';
import { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { DatabaseClock } from '@countersign/postgres';
import { GATEWAY_ID } from '../injection/gateway-id.token.js';
import { FlightRecorder } from './flight-recorder.js';
import { TraceResponder } from './trace-responder.js';

export const recorderProviders: FactoryProvider[] = [
  {
    provide: FlightRecorder,
    inject: [DatabaseClock],
    useFactory: (clock: DatabaseClock) => new FlightRecorder(() => clock.nowMs()),
  },
  {
    provide: TraceResponder,
    inject: [GATEWAY_ID, FlightRecorder, PubSub, ServerKeys],
    useFactory: (gatewayId: Uuid, recorder: FlightRecorder, bus: PubSub, keys: ServerKeys) =>
      new TraceResponder({ gatewayId, recorder, bus, keys }),
  },
];
