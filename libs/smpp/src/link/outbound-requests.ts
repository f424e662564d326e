import { Fifo } from './fifo.js';
import { NotSentError, ResponseTimeoutError, UnreadableResponseError } from './link-errors.js';
import type { Outgoing, Pdu, PduOf } from '../pdu/pdu.js';
import type { AnswerPdu, RequestWindow } from './window.js';

/** The response of every request that we send. */
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

export interface ResponseCallbacks {
  readonly resolve: (answer: AnswerPdu) => void;
  readonly reject: (error: Error) => void;
}
interface WaitingRequest extends ResponseCallbacks {
  readonly pdu: RequestPdu;
  readonly dueMs: number;
}

interface OutboundOptions {
  readonly maxWaiting: number;
  readonly responseMs: () => number;
  readonly nowMs: () => number;
  /** Encodes and sends; throws when a field exceeds its limits. */
  readonly transmit: (pdu: Pdu) => void;
}

/** Our requests: those in the window, and those queued for a slot. Each is resolved or rejected exactly once. */
export class OutboundRequests {
  readonly #waiting = new Fifo<WaitingRequest>();

  constructor(
    private readonly window: RequestWindow,
    private readonly options: OutboundOptions,
  ) {}

  /**
   * Effective at once: a wider window sends queued requests, a narrower one waits until open requests are answered.
   */
  setWindow(slots: number): void {
    this.window.slots = slots;
    this.#sendWaiting();
  }

  get windowUsed(): number {
    return this.window.used;
  }

  get nextDueMs(): number | null {
    return this.window.nextDueMs;
  }

  /** Sends when the window has a free slot, else queues; rejects when the queue is full. */
  send(pdu: RequestPdu, callbacks: ResponseCallbacks): void {
    if (this.window.hasFreeSlot && this.#waiting.length === 0) {
      this.#transmit(pdu, true, callbacks);
    } else if (this.#waiting.length >= this.options.maxWaiting) {
      callbacks.reject(new NotSentError('too many requests are queued for the window'));
    } else {
      const { resolve, reject } = callbacks;
      this.#waiting.push({ pdu, resolve, reject, dueMs: this.options.nowMs() + this.options.responseMs() });
    }
  }

  /** Sends outside the window: bind, enquire_link, unbind. */
  sendUrgent(pdu: RequestPdu, callbacks: ResponseCallbacks): void {
    this.#transmit(pdu, false, callbacks);
  }

  /** Sends a PDU that has no response: outbind. Throws InvalidPduError when a field exceeds its limits. */
  sendOutbind(pdu: Outgoing<PduOf<'outbind'>>): void {
    this.options.transmit({ ...pdu, sequence: this.window.nextSequence() });
  }

  /** Resolves the request that a response answers; false when no request matches. */
  resolveRequest(answer: AnswerPdu): boolean {
    const pending = this.window.removeAnswered(answer.sequence, answer.command);
    if (pending === undefined) return false;
    pending.resolve(answer);
    if (pending.usesSlot) this.#sendWaiting();
    return true;
  }

  /** Rejects the request whose response could not be decoded. */
  rejectUnreadable(sequence: number, command: string | null, reason: string): void {
    const name = Object.values(ANSWERED_BY).find((response) => response === command);
    const pending = this.window.removeAnswered(sequence, name ?? null);
    pending?.reject(new UnreadableResponseError(pending.command, reason));
    if (pending !== undefined) this.#sendWaiting();
  }

  failOverdue(nowMs: number): void {
    for (const pending of this.window.removeOverdue(nowMs)) {
      pending.reject(new ResponseTimeoutError(pending.command, this.options.responseMs()));
    }
    this.#sendWaiting();
  }

  /** Rejects the queued requests, so that another link can send them. */
  refuseWaiting(reason: string): void {
    for (const waiting of this.#waiting.removeAll()) waiting.reject(new NotSentError(reason));
  }

  close(error: Error): void {
    this.refuseWaiting(error.message);
    for (const pending of this.window.removeAll()) pending.reject(error);
  }

  #transmit(pdu: RequestPdu, usesSlot: boolean, { resolve, reject }: ResponseCallbacks): void {
    const sequence = this.window.nextSequence();
    try {
      this.options.transmit({ ...pdu, sequence });
    } catch (error) {
      reject(new NotSentError(error instanceof Error ? error.message : 'not encodable'));
      return;
    }
    this.window.open(sequence, {
      command: pdu.command,
      answeredBy: ANSWERED_BY[pdu.command],
      usesSlot,
      dueMs: this.options.nowMs() + this.options.responseMs(),
      resolve,
      reject,
    });
  }

  #sendWaiting(): void {
    while (this.window.hasFreeSlot) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (next.dueMs > this.options.nowMs()) this.#transmit(next.pdu, true, next);
      else next.reject(new NotSentError('no window slot became free within the response timer'));
    }
  }
}
