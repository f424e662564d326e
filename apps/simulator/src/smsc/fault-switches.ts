import type { ReceiptState } from './receipt.js';

/** Faults of the simulated carrier (contract, the carrier simulator). */
export interface SmscFaults {
  /** The number of next submits that are answered ESME_RTHROTTLED. */
  readonly throttleNext: number;
  /** The number of submits after those that are answered ESME_RMSGQFUL. */
  readonly queueFullNext: number;
  /** A submit reaches the phone, but is not answered. */
  readonly muteSubmit: boolean;
  readonly muteEnquireLink: boolean;
  /** Binds are answered ESME_RBINDFAIL. */
  readonly rejectBind: boolean;
  /** The outcome in requested receipts; null: none are sent. */
  readonly receipt: ReceiptState | null;
  /** The receipt is sent before the answer to its submit. */
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

/** The current switches. Switches that a change does not name are unchanged. */
export class FaultSwitches {
  #faults = WELL_BEHAVED;

  get current(): SmscFaults {
    return this.#faults;
  }

  set(changes: Partial<SmscFaults>): void {
    this.#faults = { ...this.#faults, ...changes };
  }

  /** Decides the next submit; counts down the requested refusals. */
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
