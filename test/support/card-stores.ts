import { RbmCommandStore } from '@countersign/rcs/commands';
import { CardArrivalStore, CardEventStore } from '@countersign/rcs/events';
import { CardOfferStore, CardSendStore, type CardOfferStoreOptions } from '@countersign/rcs/offers';
import { CardAnswers } from '@countersign/rcs/rules';
import type { ServerKeys } from '@countersign/keys';
import type { DatabaseClock } from '@countersign/postgres';

export interface CardStoresOptions extends CardOfferStoreOptions {
  readonly clock: DatabaseClock;
  readonly keys: ServerKeys;
}

/** The card stores of one process. */
export interface CardStores {
  readonly offers: CardOfferStore;
  readonly sends: CardSendStore;
  readonly events: CardEventStore;
  readonly arrivals: CardArrivalStore;
  readonly commands: RbmCommandStore;
  /** Resolves once no statement of a batch is outstanding. */
  drain(): Promise<void>;
}

export function openCardStores({ clock, keys, ...options }: CardStoresOptions): CardStores {
  const { database } = options;
  const answers = new CardAnswers(keys);
  const [offers, sends] = [new CardOfferStore(options), new CardSendStore(database, { batchMaxCommands: 64 })];
  return {
    offers,
    sends,
    events: new CardEventStore(database, clock, answers),
    arrivals: new CardArrivalStore(clock, answers),
    commands: new RbmCommandStore(database, clock),
    drain: async () => {
      await Promise.all([offers.drain(), sends.drain()]);
    },
  };
}
