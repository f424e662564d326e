import { ServerKeys } from '@countersign/keys';
import { CardAnswers } from '@countersign/rcs/rules';
import { Module } from '@nestjs/common';
import { provideClass } from '@countersign/composition';
import { CardDecisionService } from './card-decision.service.js';
import { CardOutcomes } from './card-outcomes.js';
import { CardSweeper } from './card.sweeper.js';
import { MatchNumberService } from './match-number.service.js';
import { OfferNotifier } from './offer.notifier.js';
import { RcsOfferService } from './rcs-offer.service.js';

@Module({
  providers: [
    provideClass(CardAnswers, ServerKeys),
    OfferNotifier,
    CardOutcomes,
    CardDecisionService,
    MatchNumberService,
    RcsOfferService,
    CardSweeper,
  ],
  exports: [RcsOfferService],
})
export class CardsModule {}
