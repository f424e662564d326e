import { Fifo } from './fifo.js';
import type { MessageAnswer } from './link-options.js';
import type { MessagePdu } from '../pdu/pdu.js';

/** A message of the peer that a handler holds. */
interface OpenMessage {
  readonly pdu: MessagePdu;
  readonly dueMs: number;
}

interface InboundOptions {
  /** Messages handled at once. */
  readonly maxOpen: number;
  readonly responseMs: number;
  readonly nowMs: () => number;
  readonly handle: (pdu: MessagePdu) => Promise<MessageAnswer> | MessageAnswer;
  readonly answer: (pdu: MessagePdu, answer: MessageAnswer) => void;
  /** The answer to a message that its handler failed or forgot. */
  readonly failed: () => MessageAnswer;
  /** A message was answered: there may be room again. */
  readonly onSettled: () => void;
}

/**
 * The peer's messages between their arrival and their answer. At most `maxOpen` are with their handlers; those that were
 * read beyond it wait here until one is answered (the link stops reading meanwhile, so they are at most one read's worth).
 */
export class InboundMessages {
  readonly #open = new Set<OpenMessage>();
  readonly #held = new Fifo<MessagePdu>();
  #starting = false;
  #closed = false;

  constructor(private readonly options: InboundOptions) {}

  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#held.length === 0;
  }

  get isFull(): boolean {
    return this.#open.size >= this.options.maxOpen;
  }

  /** Half of the places are free and nothing is held: reading may go on. */
  get hasRoom(): boolean {
    return this.#held.length === 0 && this.#open.size <= this.options.maxOpen / 2;
  }

  /** When the oldest open message must be answered; null when none is open. */
  get nextDueMs(): number | null {
    for (const message of this.#open) return message.dueMs;
    return null;
  }

  take(pdu: MessagePdu): void {
    if (this.isFull) this.#held.push(pdu);
    else this.#start(pdu);
  }

  /** Answers for handlers that took too long; what they decide later is not sent. */
  failOverdue(nowMs: number): void {
    for (const message of this.#open) {
      if (message.dueMs > nowMs) break;
      this.#settle(message, this.options.failed());
    }
  }

  /** Drops everything: there is nobody left to answer. */
  close(): void {
    this.#closed = true;
    this.#open.clear();
    this.#held.takeAll();
  }

  #start(pdu: MessagePdu): void {
    const message = { pdu, dueMs: this.options.nowMs() + this.options.responseMs };
    this.#open.add(message);
    let answer: Promise<MessageAnswer> | MessageAnswer;
    try {
      answer = this.options.handle(pdu);
    } catch {
      answer = this.options.failed();
    }
    if ('then' in answer) {
      answer.then(
        (settled) => this.#settle(message, settled),
        () => this.#settle(message, this.options.failed()),
      );
    } else {
      this.#settle(message, answer);
    }
  }

  #settle(message: OpenMessage, answer: MessageAnswer): void {
    if (!this.#open.delete(message)) return;
    this.options.answer(message.pdu, answer);
    this.#startHeld();
    if (!this.#closed) this.options.onSettled();
  }

  /** A loop with a guard, not recursion: handlers may answer at once, and thousands may be held. */
  #startHeld(): void {
    if (this.#starting) return;
    this.#starting = true;
    while (!this.isFull) {
      const next = this.#held.shift();
      if (next === undefined) break;
      this.#start(next);
    }
    this.#starting = false;
  }
}
