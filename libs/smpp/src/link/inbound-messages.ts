import { Fifo } from './fifo.js';
import type { MessageAnswer } from './link-options.js';
import type { MessagePdu } from '../pdu/pdu.js';

/** A message of the peer that is being handled. */
interface OpenMessage {
  readonly pdu: MessagePdu;
  readonly dueMs: number;
}

interface InboundOptions {
  /** Maximum number of messages handled at once. */
  readonly maxOpen: number;
  /** Deadline of the answer to a message that arrives now. */
  readonly dueMs: () => number;
  readonly handle: (pdu: MessagePdu) => Promise<MessageAnswer> | MessageAnswer;
  /** Null: the handler threw or timed out. */
  readonly answer: (pdu: MessagePdu, answer: MessageAnswer | null) => void;
  /** Called after a message is answered: the link may resume reading. */
  readonly onAnswered: () => void;
}

/**
 * The peer's messages between their arrival and their answer. At most `maxOpen` are handled at once; further ones are
 * queued here until one is answered. The link stops reading meanwhile, so the queue holds at most one read's worth.
 */
export class InboundMessages {
  readonly #open = new Set<OpenMessage>();
  readonly #queued = new Fifo<MessagePdu>();
  #starting = false;
  #closed = false;

  constructor(private readonly options: InboundOptions) {}

  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#queued.length === 0;
  }

  get isFull(): boolean {
    return this.#open.size >= this.options.maxOpen;
  }

  /** At least half of the slots are free and nothing is queued: reading may resume. */
  get mayResume(): boolean {
    return this.#queued.length === 0 && this.#open.size <= this.options.maxOpen / 2;
  }

  /** Deadline of the oldest open message; null when none is open. */
  get nextDueMs(): number | null {
    for (const message of this.#open) return message.dueMs;
    return null;
  }

  handleOrQueue(pdu: MessagePdu): void {
    if (this.isFull) this.#queued.push(pdu);
    else this.#start(pdu);
  }

  /** Answers messages whose handlers exceeded the response timer; their later results are discarded. */
  failOverdue(nowMs: number): void {
    for (const message of this.#open) {
      if (message.dueMs > nowMs) break;
      this.#answer(message, null);
    }
  }

  /** Drops all messages: the link is closed and cannot answer. */
  close(): void {
    this.#closed = true;
    this.#open.clear();
    this.#queued.removeAll();
  }

  #start(pdu: MessagePdu): void {
    const message = { pdu, dueMs: this.options.dueMs() };
    this.#open.add(message);
    let answer: Promise<MessageAnswer> | MessageAnswer | null = null;
    try {
      answer = this.options.handle(pdu);
    } catch {
      // Answered as failed.
    }
    if (answer !== null && 'then' in answer) {
      answer.then(
        (result) => this.#answer(message, result),
        () => this.#answer(message, null),
      );
    } else {
      this.#answer(message, answer);
    }
  }

  #answer(message: OpenMessage, answer: MessageAnswer | null): void {
    if (!this.#open.delete(message)) return;
    this.options.answer(message.pdu, answer);
    this.#startQueued();
    if (!this.#closed) this.options.onAnswered();
  }

  /**
   * A guarded loop instead of recursion: handlers may answer synchronously, and thousands of messages may be queued.
   */
  #startQueued(): void {
    if (this.#starting) return;
    this.#starting = true;
    while (!this.isFull) {
      const next = this.#queued.shift();
      if (next === undefined) break;
      this.#start(next);
    }
    this.#starting = false;
  }
}
