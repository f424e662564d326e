import type { CardRecord } from '@countersign/rcs/offers';
import type { CardOutcome } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import type { CardOutcomeWaits } from './card-outcome-waits.js';

export interface CardOutcomeReaderOptions {
  readonly waits: Pick<CardOutcomeWaits, 'has' | 'tell'>;
  /** One statement for all ids. */
  readonly find: (ids: readonly Uuid[]) => Promise<ReadonlyMap<Uuid, Pick<CardRecord, 'finalChannel'>>>;
  readonly onError: (error: unknown) => void;
}

/**
 * Passes outcome messages on to the creates that wait. A message is a hint that anybody with access to the bus's store can
 * forge: a final channel is passed on only when the card's row has one, and as the row has it. `sent` decides nothing,
 * and is passed on unread.
 */
export class CardOutcomeReader {
  private readonly unread = new Set<Uuid>();
  private reading = false;

  constructor(private readonly o: CardOutcomeReaderOptions) {}

  hear(outcomes: readonly CardOutcome[]): void {
    const { waits } = this.o;
    for (const outcome of outcomes) {
      if (outcome.news === 'sent') waits.tell([outcome]);
      else if (waits.has(outcome.id)) this.unread.add(outcome.id);
    }
    if (this.unread.size > 0 && !this.reading) void this.readAll();
  }

  /** One statement at a time, for all cards named since the last one. */
  private async readAll(): Promise<void> {
    const { waits, find, onError } = this.o;
    this.reading = true;
    while (this.unread.size > 0) {
      const ids = [...this.unread];
      this.unread.clear();
      try {
        for (const [id, { finalChannel }] of await find(ids)) {
          if (finalChannel !== null) waits.tell([{ id, news: finalChannel }]);
        }
      } catch (error) {
        onError(error);
      }
    }
    this.reading = false;
  }
}
