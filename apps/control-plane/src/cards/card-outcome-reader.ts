import type { CardRecord } from '@countersign/rcs/offers';
import type { CardOutcome } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import type { CardOutcomeWaits } from './card-outcome-waits.js';

export interface CardOutcomeReaderOptions {
  readonly waits: Pick<CardOutcomeWaits, 'has' | 'deliver'>;
  /** Reads the rows of the cards with one statement. */
  readonly find: (ids: readonly Uuid[]) => Promise<ReadonlyMap<Uuid, Pick<CardRecord, 'finalChannel'>>>;
  readonly onError: (error: unknown) => void;
}

/**
 * Delivers outcome messages to the waiting creates. A message is a hint that every client of the bus can forge: a final
 * channel is read from the card's row and delivered only if the row has one. `sent` decides nothing and is delivered
 * without a read.
 */
export class CardOutcomeReader {
  private readonly idsToRead = new Set<Uuid>();
  private reading = false;

  constructor(private readonly o: CardOutcomeReaderOptions) {}

  receive(outcomes: readonly CardOutcome[]): void {
    const { waits } = this.o;
    for (const outcome of outcomes) {
      if (outcome.news === 'sent') waits.deliver([outcome]);
      else if (waits.has(outcome.id)) this.idsToRead.add(outcome.id);
    }
    if (this.idsToRead.size > 0 && !this.reading) void this.readRows();
  }

  /** One statement at a time, for all cards named since the last one. */
  private async readRows(): Promise<void> {
    const { waits, find, onError } = this.o;
    this.reading = true;
    while (this.idsToRead.size > 0) {
      const ids = [...this.idsToRead];
      this.idsToRead.clear();
      try {
        for (const [id, { finalChannel }] of await find(ids)) {
          if (finalChannel !== null) waits.deliver([{ id, news: finalChannel }]);
        }
      } catch (error) {
        onError(error);
      }
    }
    this.reading = false;
  }
}
