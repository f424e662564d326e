import type { DueEvent } from '@countersign/events';
import type { Executor } from '@countersign/postgres';

/** The reaction of a subscriber to the commit of a dispatch. Must not throw and must not wait. */
export type AfterCommit = () => void;

/** Injects the subscribers of all dispatches, in the order of their reactions to the commit. */
export const EVENT_SUBSCRIBERS = Symbol('event subscribers');

/** The part of one module in the dispatch of events. */
export interface EventSubscriber {
  /**
   * Runs in the dispatch transaction, concurrently with the other subscribers, with at least one event in order of id. A
   * rejection rolls the whole dispatch back, and a lost deadlock runs it again: effects outside of the transaction belong
   * into the reaction that it resolves with.
   */
  handle(tx: Executor, events: readonly DueEvent[]): Promise<AfterCommit>;
}
