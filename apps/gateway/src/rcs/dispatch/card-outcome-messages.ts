import { TOPICS, type PubSub } from '@countersign/bus';
import type { AddressedCardOutcome } from '@countersign/rcs/offers';
import type { CardOutcome } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';

/** Publishes outcomes of cards to the waiting creates, one message per control plane process. */
export function publishCardOutcomes(bus: Pick<PubSub, 'publish'>, cardOutcomes: readonly AddressedCardOutcome[]): void {
  const byProcess = new Map<Uuid, CardOutcome[]>();
  for (const { originProcess, id, news } of cardOutcomes) {
    const outcomes = byProcess.get(originProcess) ?? [];
    outcomes.push({ id, news });
    byProcess.set(originProcess, outcomes);
  }
  for (const [originProcess, outcomes] of byProcess) bus.publish(TOPICS.cardOutcomes(originProcess), outcomes);
}
