import { DestinationStore } from '@countersign/carriers/destinations';
import { OutboundLookup, OutboundStore } from '@countersign/carriers/outbound';
import type { ControlPlaneSettings } from '@countersign/settings';
import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { BodyConstraints } from '../http/body.pipe.js';
import type { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import type { FailureLog } from '../operations/failure-log.js';
import type { Stores } from '../stores/stores.js';
import { TestNumbers } from '../test-numbers/test-phones.js';
import { ApprovalStore } from '../guard/approval.store.js';
import { CheckCodeService } from './check-code.service.js';
import { CodeOutbox } from './code.outbox.js';
import { CountersSweeper } from './counters.sweeper.js';
import { GuardStore } from '../guard/guard.store.js';
import { OtpController } from './otp.controller.js';
import { MtJobNotifier } from '../notifiers/mt-job.notifier.js';
import { SendCodeService } from './send-code.service.js';
import { GuardOptions, SendGuard } from '../guard/send-guard.js';

export interface OtpOptions {
  readonly settings: ControlPlaneSettings;
  readonly stores: Stores;
  readonly metrics: ControlPlaneMetrics;
  readonly failures: FailureLog;
}

@Module({})
export class OtpModule {
  static over(
    options: OtpOptions,
    stores: DynamicModule,
    testNumbers: DynamicModule,
    idempotency: DynamicModule,
  ): DynamicModule {
    return {
      module: OtpModule,
      imports: [stores, testNumbers, idempotency],
      controllers: [OtpController],
      providers: [
        { provide: BodyConstraints, useValue: new BodyConstraints([]) },
        SendCodeService,
        CheckCodeService,
        SendGuard,
        GuardStore,
        ...guardProviders(options),
        ...outboxProviders(options),
      ],
      exports: [SendCodeService],
    };
  }
}

function guardProviders({ settings, stores, metrics, failures }: OtpOptions): Provider[] {
  const { database, clock } = stores;
  return [
    { provide: DestinationStore, useValue: new DestinationStore(() => clock.newId()) },
    {
      provide: GuardOptions,
      useValue: new GuardOptions(
        settings.otpLimits,
        (rule) => metrics.codesRefused.inc({ rule }),
        failures.about('noting what the guard refused'),
      ),
    },
    {
      provide: CountersSweeper,
      useFactory: (store: GuardStore) =>
        new CountersSweeper({
          store,
          approvals: new ApprovalStore(stores.keys),
          checks: stores.codeChecks,
          database,
          clock,
          retentionDays: settings.retentionDays,
          onError: failures.about('forgetting counters of codes'),
        }),
      inject: [GuardStore],
    },
  ];
}

function outboxProviders({ settings, stores, failures }: OtpOptions): Provider[] {
  const notifier = {
    provide: MtJobNotifier,
    useFactory: () => new MtJobNotifier('outbound', settings, failures.about('the queue of codes')),
  };
  const outbox = {
    provide: CodeOutbox,
    useFactory: (codeJobNotifier: MtJobNotifier, testNumbers: TestNumbers) =>
      new CodeOutbox({
        clock: stores.clock,
        keys: stores.keys,
        store: new OutboundStore(),
        lookup: new OutboundLookup(),
        wake: (ids) => codeJobNotifier.notify(ids),
        wakeTest: () => testNumbers.takeCode(),
        tell: (event) => stores.eventBroadcast.publish([event]),
      }),
    inject: [MtJobNotifier, TestNumbers],
  };
  return [notifier, outbox];
}
