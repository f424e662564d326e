import { type DynamicModule, Module } from '@nestjs/common';
import { BodyConstraints } from '../http/body.pipe.js';
import { TargetRules } from '../targets/target.js';
import { LiveSessions } from './live-sessions.js';
import { SessionOpener } from './session.opener.js';
import { VerifyController } from './verify.controller.js';
import { VerifyService } from './verify.service.js';
import { IsWebhookTarget } from '../targets/webhook-target.constraint.js';

@Module({})
export class VerifyModule {
  static over(
    stores: DynamicModule,
    testNumbers: DynamicModule,
    idempotency: DynamicModule,
    cards: DynamicModule,
    liveSessionsPerPhone: number,
  ): DynamicModule {
    const constraints = {
      provide: BodyConstraints,
      useFactory: (rules: TargetRules) => new BodyConstraints([new IsWebhookTarget(rules)]),
      inject: [TargetRules],
    };
    const live = { provide: LiveSessions, useValue: new LiveSessions({ perPhone: liveSessionsPerPhone }) };
    return {
      module: VerifyModule,
      imports: [stores, testNumbers, idempotency, cards],
      controllers: [VerifyController],
      providers: [VerifyService, SessionOpener, live, constraints],
    };
  }
}
