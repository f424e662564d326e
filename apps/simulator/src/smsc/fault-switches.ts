import type { ReceiptState } from './receipt.js';

/** How the simulated carrier misbehaves (contract, the carrier simulator). */
export interface SmscFaults {
  /** So many of the next submits are answered ESME_RTHROTTLED. */
  readonly throttleNext: number;
  /** So many of the next submits, after those, are answered ESME_RMSGQFUL. */
  readonly queueFullNext: number;
  /** A submit reaches the phone, but is not answered. */
  readonly muteSubmit: boolean;
  readonly muteEnquireLink: boolean;
  /** Binds are answered ESME_RBINDFAIL. */
  readonly rejectBind: boolean;
  /** What the receipts that a submit asks for say; null: none are sent. */
  readonly receipt: ReceiptState | null;
  /** The receipt overtakes the answer to its submit. */
  readonly receiptBeforeResponse: boolean;
}

const WELL_BEHAVED: SmscFaults = {
  throttleNext: 0,
  queueFullNext: 0,
  muteSubmit: false,
  muteEnquireLink: false,
  rejectBind: false,
  receipt: 'DELIVRD',
  receiptBeforeResponse: false,
};

export type SubmitVerdict = 'accept' | 'throttle' | 'queue_full';

/** The switches as they stand. A switch that is not named in a change stays as it is. */
export class FaultSwitches {
  #faults = WELL_BEHAVED;

  get current(): SmscFaults {
    return this.#faults;
  }

  set(changes: Partial<SmscFaults>): void {
    this.#faults = { ...this.#faults, ...changes };
  }

  /** What becomes of the next submit; counts down the refusals that were ordered. */
  nextSubmit(): SubmitVerdict {
    const { throttleNext, queueFullNext } = this.#faults;
    if (throttleNext > 0) {
      this.set({ throttleNext: throttleNext - 1 });
      return 'throttle';
    }
    if (queueFullNext > 0) {
      this.set({ queueFullNext: queueFullNext - 1 });
      return 'queue_full';
    }
    return 'accept';
  }
}
