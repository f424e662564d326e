import { OutboundLookup, OutboundStore } from '@countersign/carriers/outbound';
import { Module } from '@nestjs/common';
import { GuardObserver } from '../guard/guard.observer.js';
import { SendGuard } from '../guard/send-guard.js';
import { MtJobNotifier } from '../notifiers/mt-job.notifier.js';
import { CheckCodeService } from './check-code.service.js';
import { CodeNotifier } from './code.notifier.js';
import { CodeOutbox } from './code.outbox.js';
import { CountersSweeper } from './counters.sweeper.js';
import { ExpiredCounters } from './expired-counters.js';
import { OtpController } from './otp.controller.js';
import { SendCodeService } from './send-code.service.js';

@Module({
  controllers: [OtpController],
  providers: [
    SendCodeService,
    CheckCodeService,
    SendGuard,
    GuardObserver,
    OutboundStore,
    OutboundLookup,
    MtJobNotifier,
    CodeNotifier,
    CodeOutbox,
    ExpiredCounters,
    CountersSweeper,
  ],
  exports: [SendCodeService],
})
export class OtpModule {}
