import { MAX_MESSAGE_OCTETS, type BusMessage, type Payload, type PubSub, type Subscription } from '@countersign/bus';
import { TRACE_FORMATS, TraceSeal, traceTopic, type TraceQuestion } from '@countersign/carriers/traces';
import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { FlightRecorder } from './flight-recorder.js';
import { traceAnswer, traceCapture } from './trace.js';

/** An answer is one message of the bus, and has a few words before it. */
const MAX_ANSWER_OCTETS = MAX_MESSAGE_OCTETS - 16 * 1024;

export interface TraceResponderOptions {
  readonly gatewayId: Uuid;
  readonly recorder: FlightRecorder;
  readonly bus: PubSub;
  readonly keys: ServerKeys;
}

/** Answers control planes that ask what this gateway has recorded. */
export class TraceResponder {
  readonly #subscription: Subscription;
  readonly #seal: TraceSeal;

  constructor(private readonly o: TraceResponderOptions) {
    this.#seal = new TraceSeal(o.keys, o.gatewayId);
    this.#subscription = o.bus.answer(traceTopic(o.gatewayId), (question) => this.answer(question));
  }

  /** Settles when questions are heard, or the bus was found to be away. */
  get ready(): Promise<void> {
    return this.#subscription.ready;
  }

  close(): void {
    this.#subscription.close();
  }

  /** Null for a question of another version, or one that was not sealed with the master key. */
  private answer(message: BusMessage): Payload | null {
    const question = questionOf(this.#seal.openQuestion(message.octets));
    if (question === null) return null;
    const recorded = this.o.recorder.recorded(question.bindId);
    return this.#seal.answer(
      question.format === 'pcap'
        ? traceCapture(recorded, MAX_ANSWER_OCTETS)
        : JSON.stringify(traceAnswer(recorded, MAX_ANSWER_OCTETS)),
    );
  }
}

function questionOf(octets: Buffer | null): TraceQuestion | null {
  if (octets === null) return null;
  const value: unknown = JSON.parse(octets.toString('utf8'));
  if (typeof value !== 'object' || value === null || !('bindId' in value) || !('format' in value)) return null;
  const format = TRACE_FORMATS.find((known) => known === value.format);
  return format === undefined || typeof value.bindId !== 'string' ? null : { bindId: value.bindId, format };
}
