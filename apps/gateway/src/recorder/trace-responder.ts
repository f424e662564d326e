import { MAX_MESSAGE_OCTETS, type BusMessage, type Payload, PubSub, TOPICS, type Subscription } from '@countersign/bus';
import { TRACE_FORMATS, TraceSeal, type TraceQuestion } from '@countersign/carriers/traces';
import { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';
import { GATEWAY_ID } from '../injection/gateway-id.token.js';
import { FlightRecorder } from './flight-recorder.js';
import { traceAnswer, traceCapture } from './trace.js';

/** An answer is one bus message, with a header. */
const MAX_ANSWER_OCTETS = MAX_MESSAGE_OCTETS - 16 * 1024;

/** Answers trace requests of control planes over the bus. */
@Injectable()
export class TraceResponder {
  readonly #subscription: Subscription;
  readonly #seal: TraceSeal;

  constructor(
    @Inject(GATEWAY_ID) gatewayId: Uuid,
    private readonly recorder: FlightRecorder,
    bus: PubSub,
    keys: ServerKeys,
  ) {
    this.#seal = new TraceSeal(keys, gatewayId);
    this.#subscription = bus.answer(TOPICS.trace(gatewayId), (question) => this.answerQuestion(question));
  }

  /** Resolves when the subscription is active, or the bus is known to be unreachable. */
  get ready(): Promise<void> {
    return this.#subscription.ready;
  }

  close(): void {
    this.#subscription.close();
  }

  /** Null for a request of another version, or one not sealed with the master key. */
  private answerQuestion(message: BusMessage): Payload | null {
    const question = questionOf(this.#seal.openQuestion(message.octets));
    if (question === null) return null;
    const recorded = this.recorder.recordedConnections(question.bindId);
    const octets =
      question.format === 'pcap'
        ? traceCapture(recorded, MAX_ANSWER_OCTETS)
        : JSON.stringify(traceAnswer(recorded, MAX_ANSWER_OCTETS));
    return this.#seal.answer(octets, question);
  }
}

function questionOf(octets: Buffer | null): TraceQuestion | null {
  if (octets === null) return null;
  const value: unknown = JSON.parse(octets.toString('utf8'));
  if (typeof value !== 'object' || value === null) return null;
  const { bindId, format: name, nonce = null }: Partial<Record<keyof TraceQuestion, unknown>> = value;
  const format = TRACE_FORMATS.find((known) => known === name);
  if (format === undefined || typeof bindId !== 'string') return null;
  return nonce === null || typeof nonce === 'string' ? { bindId, format, nonce } : null;
}
