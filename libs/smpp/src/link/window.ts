import type { BindRespPdu, CommandName, Pdu, PduOf, ResponsePdu } from '../pdu/pdu.js';

const LAST_SEQUENCE = 0x7fff_ffff;

/** Sequence numbers run from 1 to 0x7FFFFFFF and wrap to 1 (SMPP 3.4 section 5.1.4). */
export function sequenceAfter(sequence: number): number {
  return sequence >= LAST_SEQUENCE ? 1 : sequence + 1;
}

/** Every response to a request of ours, including bind and unbind. */
export type AnswerPdu =
  ResponsePdu | PduOf<'bind_receiver_resp' | 'bind_transmitter_resp' | 'bind_transceiver_resp' | 'unbind_resp'>;

const ANSWERS: ReadonlySet<string> = new Set<AnswerPdu['command']>([
  'bind_receiver_resp',
  'bind_transmitter_resp',
  'bind_transceiver_resp',
  'unbind_resp',
  'submit_sm_resp',
  'deliver_sm_resp',
  'data_sm_resp',
  'enquire_link_resp',
  'generic_nack',
]);
export const isAnswer = (pdu: Pdu): pdu is AnswerPdu => ANSWERS.has(pdu.command);

const isBindResponse = (command: string | null): command is BindRespPdu['command'] =>
  command === 'bind_receiver_resp' || command === 'bind_transmitter_resp' || command === 'bind_transceiver_resp';
export const isBindAnswer = (pdu: AnswerPdu): pdu is BindRespPdu => isBindResponse(pdu.command);

export interface PendingRequest {
  readonly command: CommandName;
  readonly answeredBy: AnswerPdu['command'];
  /**
   * Requests of the link itself (bind, enquire_link, unbind) use no slot: they must be sent even when the window is
   * full.
   */
  readonly usesSlot: boolean;
  readonly dueMs: number;
  readonly resolve: (answer: AnswerPdu) => void;
  readonly reject: (error: Error) => void;
}

/** Some SMSCs answer every form of bind with the response of one: OsmoMSC a bind_receiver with bind_transmitter_resp. */
const isAnsweredBy = ({ answeredBy }: PendingRequest, command: Pdu['command'] | null): boolean =>
  answeredBy === command || command === 'generic_nack' || (isBindResponse(answeredBy) && isBindResponse(command));

/**
 * The unanswered requests of one side. A response matches only by the sequence number *and* the command of a request;
 * generic_nack matches any command, and a bind response any bind. Every request has a deadline; requests are added in the order of their deadlines.
 */
export class RequestWindow {
  readonly #pending = new Map<number, PendingRequest>();
  #used = 0;

  /**
   * `slots` may change while requests are open: requests beyond a smaller number are still awaited, but none are
   * added.
   */
  constructor(
    public slots: number,
    /** The last sequence number used: a connection begins at 1. */
    private sequence = 0,
  ) {}

  /** Slots in use. */
  get used(): number {
    return this.#used;
  }

  get hasFreeSlot(): boolean {
    return this.#used < this.slots;
  }

  /** Uses the next sequence number that no unanswered request has (numbers wrap). */
  nextSequence(): number {
    do this.sequence = sequenceAfter(this.sequence);
    while (this.#pending.has(this.sequence));
    return this.sequence;
  }

  open(sequence: number, pending: PendingRequest): void {
    this.#pending.set(sequence, pending);
    if (pending.usesSlot) this.#used++;
  }

  removeAnswered(sequence: number, command: Pdu['command'] | null): PendingRequest | undefined {
    const pending = this.#pending.get(sequence);
    if (pending === undefined || !isAnsweredBy(pending, command)) return undefined;
    this.#remove(sequence, pending);
    return pending;
  }

  /** Removes the requests whose response is overdue. */
  removeOverdue(nowMs: number): PendingRequest[] {
    const overdue: PendingRequest[] = [];
    for (const [sequence, pending] of this.#pending) {
      if (pending.dueMs > nowMs) break;
      this.#remove(sequence, pending);
      overdue.push(pending);
    }
    return overdue;
  }

  removeAll(): PendingRequest[] {
    return this.removeOverdue(Infinity);
  }

  /** Deadline of the oldest request; null when none is open. */
  get nextDueMs(): number | null {
    for (const pending of this.#pending.values()) return pending.dueMs;
    return null;
  }

  #remove(sequence: number, pending: PendingRequest): void {
    this.#pending.delete(sequence);
    if (pending.usesSlot) this.#used--;
  }
}
