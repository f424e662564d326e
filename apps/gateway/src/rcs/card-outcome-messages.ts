import type { PubSub } from '@countersign/bus';
import { cardTopic, type AddressedCardOutcome, type CardOutcome } from '@countersign/cards';
import type { Uuid } from '@countersign/postgres';

/** Tells waiting requests what became of their cards: one message for each process that waits. */
export function publishCardOutcomes(bus: Pick<PubSub, 'publish'>, news: readonly AddressedCardOutcome[]): void {
  const byWaiter = new Map<Uuid, CardOutcome[]>();
  for (const { waiter, id, news: word } of news) {
    const told = byWaiter.get(waiter) ?? [];
    told.push({ id, news: word });
    byWaiter.set(waiter, told);
  }
  for (const [waiter, told] of byWaiter) bus.publish(cardTopic(waiter), told);
}
