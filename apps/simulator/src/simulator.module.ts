import { type DynamicModule, Module } from '@nestjs/common';
import { HealthController } from './http/health.controller.js';
import { SmscController } from './smsc/smsc.controller.js';
import { SmscServer } from './smsc/smsc.server.js';

@Module({})
export class SimulatorModule {
  static register(smsc: SmscServer): DynamicModule {
    return {
      module: SimulatorModule,
      controllers: [HealthController, SmscController],
      providers: [{ provide: SmscServer, useValue: smsc }],
    };
  }
}
