import { setTimeout as delay } from 'node:timers/promises';
import { MAX_MESSAGE_OCTETS, type BusMessage, type Payload, PubSub, TOPICS, type Subscription } from '@countersign/bus';
import { TRACE_FORMATS, TraceSeal, type TraceQuestion } from '@countersign/carriers/traces';
import { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { TokenBucket } from '@countersign/resilience';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { GATEWAY_ID } from '../injection/gateway-id.token.js';
import { FlightRecorder } from './flight-recorder.js';
import { traceAnswer, traceCapture } from './trace.js';

/** An answer is one bus message, with a header. */
const MAX_ANSWER_OCTETS = MAX_MESSAGE_OCTETS - 16 * 1024;

/** Nonces of answered questions that are remembered, so that a question recorded by another is not answered again. */
const REMEMBERED_NONCES = 10_000;
/** Time for answers: decoding all that is recorded of a bind takes some 100 ms. */
const ANSWERING_MS_PER_SECOND = 200;
/** Further questions are left unanswered. */
const MAX_WAITING = 4;

/** Answers trace requests of control planes over the bus: each once, one at a time. */
@Injectable()
export class TraceResponder {
  readonly #subscription: Subscription;
  readonly #seal: TraceSeal;
  readonly #answered = new LRUCache<string, true>({ max: REMEMBERED_NONCES });
  readonly #time = new TokenBucket(
    { perSecond: ANSWERING_MS_PER_SECOND, capacity: ANSWERING_MS_PER_SECOND },
    performance.now(),
  );
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

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

  /** Null for a request of another version, one not sealed with the master key, or one that was answered before. */
  private async answerQuestion(message: BusMessage): Promise<Payload | null> {
    const question = questionOf(this.#seal.openQuestion(message.octets));
    if (question === null || this.#waiting >= MAX_WAITING || this.isRepeated(question)) return null;
    this.#waiting++;
    const turn = this.#last.then(() => delay(this.#time.waitMs(performance.now()), undefined, { ref: false }));
    const answer = turn.then(() => this.makeAnswer(question)).finally(() => this.#waiting--);
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  private isRepeated({ nonce }: TraceQuestion): boolean {
    if (nonce === null) return false;
    const repeated = this.#answered.has(nonce);
    this.#answered.set(nonce, true);
    return repeated;
  }

  private makeAnswer(question: TraceQuestion): Payload {
    const startMs = performance.now();
    const recorded = this.recorder.recordedConnections(question.bindId);
    const octets =
      question.format === 'pcap'
        ? traceCapture(recorded, MAX_ANSWER_OCTETS)
        : JSON.stringify(traceAnswer(recorded, MAX_ANSWER_OCTETS));
    const sealed = this.#seal.answer(octets, question);
    const endMs = performance.now();
    this.#time.take(endMs, endMs - startMs);
    return sealed;
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
