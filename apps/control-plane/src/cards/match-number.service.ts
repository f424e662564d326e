import { Database } from '@countersign/postgres';
import { findCards, mayReachPhone } from '@countersign/rcs/offers';
import { CardAnswers, type NewCard } from '@countersign/rcs/rules';
import { Inject, Injectable } from '@nestjs/common';
import { FailureLog } from '../operations/failure-log.js';
import type { CardDecision } from './card-decision.js';

/** Decides whether the browser shows the number that the user compares with the card. */
@Injectable()
export class MatchNumberService {
  private readonly onError: (error: unknown) => void;

  constructor(
    @Inject(CardAnswers) private readonly answers: Pick<CardAnswers, 'matchCodeOf'>,
    @Inject(Database) private readonly database: Pick<Database, 'query'>,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.onError = failures.about('sending a card');
  }

  /** The number; null without number matching, or if no card can arrive. */
  async numberFor(card: NewCard, decision: CardDecision): Promise<string | null> {
    return (await this.mustShowNumber(card, decision)) ? this.answers.matchCodeOf(card) : null;
  }

  private async mustShowNumber({ id, numberMatching }: NewCard, { mayArrive }: CardDecision): Promise<boolean> {
    if (!numberMatching || mayArrive !== 'unknown') return numberMatching && mayArrive === true;
    try {
      const card = (await findCards(this.database, [id])).get(id);
      return card !== undefined && mayReachPhone(card);
    } catch (error) {
      this.onError(error);
      return true;
    }
  }
}
