import { Fifo } from './fifo.js';
import { NotSentError, ResponseTimeoutError, UnreadableResponseError } from './link-errors.js';
import type { Outgoing, Pdu, PduOf } from '../pdu/pdu.js';
import { RequestWindow } from './window.js';
import type { AnswerPdu } from './window.js';

/** Every request of ours and the response that answers it. */
const ANSWERED_BY = {
  bind_receiver: 'bind_receiver_resp',
  bind_transmitter: 'bind_transmitter_resp',
  bind_transceiver: 'bind_transceiver_resp',
  unbind: 'unbind_resp',
  enquire_link: 'enquire_link_resp',
  submit_sm: 'submit_sm_resp',
  deliver_sm: 'deliver_sm_resp',
  data_sm: 'data_sm_resp',
} as const;
type RequestName = keyof typeof ANSWERED_BY;
export type RequestPdu = Outgoing<PduOf<RequestName>>;

export interface Settlement {
  readonly resolve: (answer: AnswerPdu) => void;
  readonly reject: (error: Error) => void;
}
interface WaitingRequest extends Settlement {
  readonly pdu: RequestPdu;
  readonly dueMs: number;
}

interface OutboundOptions {
  readonly window: number;
  readonly maxWaiting: number;
  readonly responseMs: number;
  readonly nowMs: () => number;
  /** Encodes and sends; throws when a field is out of its limits. */
  readonly transmit: (pdu: Pdu) => void;
}

/** Our requests: those in the window, and those that wait for a slot of it. Every one of them is settled, once. */
export class OutboundRequests {
  readonly #window: RequestWindow;
  readonly #waiting = new Fifo<WaitingRequest>();
  #sequence: number;

  /** Numbers run on from `lastSequence`: a session begins at 1. */
  constructor(
    private readonly options: OutboundOptions,
    lastSequence = 0,
  ) {
    this.#sequence = lastSequence;
    this.#window = new RequestWindow(options.window);
  }

  /** Acts at once: a wider window takes the next that wait, a narrower one lets what is open be answered first. */
  setWindow(slots: number): void {
    this.#window.slots = slots;
    this.#sendWaiting();
  }

  get windowUsed(): number {
    return this.#window.used;
  }

  get nextDueMs(): number | null {
    return this.#window.nextDueMs;
  }

  /** Sends when the window has room, else queues; a full queue refuses. */
  send(pdu: RequestPdu, settlement: Settlement): void {
    if (this.#window.hasRoom && this.#waiting.length === 0) {
      this.#transmit(pdu, true, settlement);
    } else if (this.#waiting.length >= this.options.maxWaiting) {
      settlement.reject(new NotSentError('too many requests wait for the window'));
    } else {
      const { resolve, reject } = settlement;
      this.#waiting.push({ pdu, resolve, reject, dueMs: this.options.nowMs() + this.options.responseMs });
    }
  }

  /** Sends past the window: bind, enquire_link, unbind. */
  sendUrgent(pdu: RequestPdu, settlement: Settlement): void {
    this.#transmit(pdu, false, settlement);
  }

  /** Sends what has no answer: outbind. Throws InvalidPduError when a field is out of its limits. */
  tell(pdu: Outgoing<PduOf<'outbind'>>): void {
    this.#sequence = this.#window.sequenceAfter(this.#sequence);
    this.options.transmit({ ...pdu, sequence: this.#sequence });
  }

  /** An answer came; false when no request of ours fits it. */
  settle(answer: AnswerPdu): boolean {
    const pending = this.#window.take(answer.sequence, answer.command);
    if (pending === undefined) return false;
    pending.resolve(answer);
    if (pending.takesSlot) this.#sendWaiting();
    return true;
  }

  /** An answer came that cannot be read. */
  settleUnreadable(sequence: number, command: string | null, reason: string): void {
    const name = Object.values(ANSWERED_BY).find((response) => response === command);
    const pending = this.#window.take(sequence, name ?? null);
    pending?.reject(new UnreadableResponseError(pending.command, reason));
    if (pending !== undefined) this.#sendWaiting();
  }

  failOverdue(nowMs: number): void {
    for (const pending of this.#window.takeOverdue(nowMs)) {
      pending.reject(new ResponseTimeoutError(pending.command, this.options.responseMs));
    }
    this.#sendWaiting();
  }

  /** Refuses what was never sent, so that another link can send it. */
  refuseWaiting(reason: string): void {
    for (const waiting of this.#waiting.takeAll()) waiting.reject(new NotSentError(reason));
  }

  close(error: Error): void {
    this.refuseWaiting(error.message);
    for (const pending of this.#window.takeAll()) pending.reject(error);
  }

  #transmit(pdu: RequestPdu, takesSlot: boolean, { resolve, reject }: Settlement): void {
    this.#sequence = this.#window.sequenceAfter(this.#sequence);
    const sequence = this.#sequence;
    try {
      this.options.transmit({ ...pdu, sequence });
    } catch (error) {
      reject(new NotSentError(error instanceof Error ? error.message : 'not encodable'));
      return;
    }
    this.#window.open(sequence, {
      command: pdu.command,
      answeredBy: ANSWERED_BY[pdu.command],
      takesSlot,
      dueMs: this.options.nowMs() + this.options.responseMs,
      resolve,
      reject,
    });
  }

  #sendWaiting(): void {
    while (this.#window.hasRoom) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (next.dueMs > this.options.nowMs()) this.#transmit(next.pdu, true, next);
      else next.reject(new NotSentError('no slot of the window came free in time'));
    }
  }
}
