import type { PubSub } from '@countersign/bus';
import type { AddressedCardOutcome } from '@countersign/rcs/offers';
import { cardTopic, type CardOutcome } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';

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
