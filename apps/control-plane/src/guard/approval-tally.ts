import type { Uuid } from '@countersign/ids';
import { ACCOUNT_SCOPE, DAY_SCOPE, keptUntil, slotOf } from './traffic-slots.js';

/** A send or an approval that is counted. */
export interface CountedEvent {
  readonly accountId: Uuid;
  /** ISO 3166-1 alpha-2, or `001`. */
  readonly country: string;
  /** The phone's block of numbers, or null where the event does not concern it. */
  readonly block: string | null;
  readonly at: Date;
}

/** Amounts added to one slot. */
export interface SlotAddition {
  readonly accountId: Uuid;
  readonly scope: string;
  readonly slotMs: number;
  readonly untilMs: number;
  readonly settled: number;
  readonly approvals: number;
}

/** Sums of settled sends and approvals by slot, so that a batch of approvals is written in one statement. Pure. */
export class ApprovalTally {
  private readonly slots = new Map<string, SlotAddition>();

  /** Adds a send whose session is approved, in the slot of the send. */
  addSettledSend(event: CountedEvent): void {
    this.add(event, { settled: 1, approvals: 0 });
  }

  /** Adds a phone that gets credits, in the slot of its approval. */
  addCredit(event: Omit<CountedEvent, 'block'>): void {
    this.add({ ...event, block: null }, { settled: 0, approvals: 1 });
  }

  /** Adds a phone that approved a session with a code: for its block of numbers, in the slot of its approval. */
  addConversion({ accountId, block, at }: CountedEvent & { readonly block: string }): void {
    this.addTo(accountId, block, at, { settled: 0, approvals: 1 });
  }

  additions(): readonly SlotAddition[] {
    return [...this.slots.values()];
  }

  private add(
    { accountId, country, block, at }: CountedEvent,
    more: Pick<SlotAddition, 'settled' | 'approvals'>,
  ): void {
    const scopes = [ACCOUNT_SCOPE, DAY_SCOPE, country, ...(block === null ? [] : [block])];
    for (const scope of scopes) this.addTo(accountId, scope, at, more);
  }

  private addTo(accountId: Uuid, scope: string, at: Date, more: Pick<SlotAddition, 'settled' | 'approvals'>): void {
    const slotMs = slotOf(scope, at.getTime());
    const key = `${accountId} ${scope} ${slotMs}`;
    const known = this.slots.get(key);
    this.slots.set(key, {
      accountId,
      scope,
      slotMs,
      untilMs: keptUntil(scope, slotMs),
      settled: (known?.settled ?? 0) + more.settled,
      approvals: (known?.approvals ?? 0) + more.approvals,
    });
  }
}
