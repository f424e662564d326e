import { MessageStore } from '@countersign/carriers/inbound';
import { MtMessageStore } from '@countersign/carriers/outbound';
import { provide, provideClass } from '@countersign/composition';
import { EventStore } from '@countersign/events';
import { ServerKeys } from '@countersign/keys';
import { DatabaseClock } from '@countersign/postgres';
import { CardAnswers } from '@countersign/rcs/rules';
import { ControlPlaneSettings } from '@countersign/settings';
import { Module } from '@nestjs/common';
import { CardDecisionService } from '../cards/card-decision.service.js';
import { CardOutcomes } from '../cards/card-outcomes.js';
import { CardSweeper } from '../cards/card.sweeper.js';
import { MatchNumberService } from '../cards/match-number.service.js';
import { OfferNotifier } from '../cards/offer.notifier.js';
import { RcsOfferService } from '../cards/rcs-offer.service.js';
import { IdempotencyKeySweeper } from '../idempotency/idempotency-key.sweeper.js';
import { IdempotencyQuota } from '../idempotency/idempotency-quota.js';
import { IdempotencyService } from '../idempotency/idempotency.service.js';
import { IdempotencyStore } from '../idempotency/idempotency.store.js';
import { TestAnswers } from '../test-numbers/test-answers.js';
import { TestCodes } from '../test-numbers/test-codes.js';
import { TestPhones } from '../test-numbers/test-phones.js';
import { BrandLookup } from './brand-lookup.js';
import { LiveSessions } from './live-sessions.js';
import { SessionOpener } from './session.opener.js';
import { VerifyController } from './verify.controller.js';
import { VerifyService } from './verify.service.js';

/** Sessions, with their cards, the answers of test numbers, and repeated requests. */
@Module({
  controllers: [VerifyController],
  providers: [
    VerifyService,
    SessionOpener,
    BrandLookup,
    provide(LiveSessions, [ControlPlaneSettings], (settings) => LiveSessions.ofSettings(settings)),
    provideClass(CardAnswers, ServerKeys),
    OfferNotifier,
    CardOutcomes,
    CardDecisionService,
    MatchNumberService,
    RcsOfferService,
    CardSweeper,
    IdempotencyStore,
    IdempotencyQuota,
    IdempotencyService,
    IdempotencyKeySweeper,
    MessageStore,
    provideClass(MtMessageStore, EventStore, DatabaseClock),
    TestAnswers,
    TestCodes,
    TestPhones,
  ],
  exports: [IdempotencyService, TestPhones],
})
export class VerifyModule {}
