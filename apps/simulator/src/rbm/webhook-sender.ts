import { randomInt } from 'node:crypto';
import { Agent, request } from 'undici';
import type { Clock } from './clock.js';
import type { RbmEvent } from './rbm-event.js';
import type { RbmSwitches } from './rbm-switches.js';
import { type Envelope, envelopeOf, signatureOf } from './webhook-envelope.js';

const MOST_IN_FLIGHT = 64;
/** Events that wait for their first or next attempt; above this number new events are dropped. */
const MOST_WAITING = 50_000;
const ANSWER_WITHIN_MS = 10_000;
const LONGEST_RETRY_MS = 5_000;
/** Some minutes; the real service retries for 7 days. */
const MOST_TRIES = 60;
const REORDER_HOLD_MS = 1_000;
const LONGEST_ANSWER_BYTES = 4096;
/** Ten digits, as the service sends. */
const SECRET_RANGE = { from: 1_000_000_000, to: 9_999_999_999 } as const;

export interface SenderOptions {
  readonly clock: Clock;
  readonly switches: RbmSwitches;
  readonly clientToken: string | null;
  readonly log: (message: string) => void;
}

/** The state of the webhook. */
export interface WebhookView {
  /** Whether the webhook has proved that it knows the client token. */
  readonly verified: boolean;
  readonly delivered: number;
  readonly refused: number;
  readonly dropped: number;
  /** Events that are not answered 200 yet. */
  readonly waiting: number;
  readonly lastFault: string | null;
}

interface QueuedEvent {
  readonly envelope: Envelope;
  tries: number;
}

/**
 * Sends events to the agent's webhook, signed, at least once: attempts that are not answered 200 are repeated with
 * growing delays. Several events are sent concurrently, so that their order may change.
 */
export class WebhookSender {
  readonly #agent = new Agent({
    connections: MOST_IN_FLIGHT,
    headersTimeout: ANSWER_WITHIN_MS,
    bodyTimeout: ANSWER_WITHIN_MS,
  });
  readonly #due: QueuedEvent[] = [];
  readonly #held = new Map<string, { readonly event: RbmEvent; readonly release: () => void }>();
  #waiting = 0;
  #inFlight = 0;
  #counts = { delivered: 0, refused: 0, dropped: 0 };
  #verified = false;
  #lastFault: string | null = null;
  #isClosed = false;
  /** Counts the registrations: a handshake that a later one has replaced is not repeated. */
  #registration = 0;

  constructor(private readonly options: SenderOptions) {}

  get view(): WebhookView {
    return { ...this.#counts, verified: this.#verified, waiting: this.#waiting, lastFault: this.#lastFault };
  }

  /** Repeats the handshake until the webhook passes it. Call it when the webhook is set or changed. */
  register(): void {
    this.#verified = false;
    this.#registration += 1;
    void this.#performHandshake(this.#registration, 1);
  }

  send(event: RbmEvent): void {
    const { dropDelivered, reorder } = this.options.switches.current;
    if (event.isDelivery && dropDelivered) return;
    if (event.isDelivery && reorder && event.messageId !== null) {
      this.#hold(event.messageId, event);
      return;
    }
    this.#enqueue(event);
    if (event.messageId !== null) this.#held.get(event.messageId)?.release();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#agent.destroy();
  }

  #hold(messageId: string, event: RbmEvent): void {
    const release = (): void => {
      if (!this.#held.delete(messageId)) return;
      cancel();
      this.#enqueue(event);
    };
    const cancel = this.options.clock.after(REORDER_HOLD_MS, release);
    this.#held.set(messageId, { event, release });
  }

  #enqueue(event: RbmEvent): void {
    const { clock, switches } = this.options;
    if (switches.current.webhookUrl === null || this.#isClosed) return;
    const envelope = envelopeOf(event, switches.current, clock.nowMs());
    for (let copies = switches.current.duplicate ? 2 : 1; copies > 0; copies--) {
      if (this.#waiting >= MOST_WAITING) {
        this.#counts.dropped += 1;
        continue;
      }
      this.#waiting += 1;
      this.#due.push({ envelope, tries: 0 });
    }
    this.#pump();
  }

  #pump(): void {
    while (this.#inFlight < MOST_IN_FLIGHT && !this.#isClosed) {
      const queued = this.#due.shift();
      if (queued === undefined) return;
      this.#inFlight += 1;
      void this.#run(queued).finally(() => {
        this.#inFlight -= 1;
        this.#pump();
      });
    }
  }

  async #run(queued: QueuedEvent): Promise<void> {
    queued.tries += 1;
    const fault = await this.#post(queued.envelope);
    if (fault === null) {
      this.#waiting -= 1;
      this.#counts.delivered += 1;
      return;
    }
    this.#counts.refused += 1;
    this.#lastFault = fault;
    if (queued.tries >= MOST_TRIES || this.#isClosed) {
      this.#waiting -= 1;
      this.#counts.dropped += 1;
      this.options.log(`RBM webhook: event dropped after its last attempt: ${fault}`);
      return;
    }
    this.options.clock.after(this.#waitAfter(queued.tries), () => {
      this.#due.push(queued);
      this.#pump();
    });
  }

  /** Null after an answer of 200, else the reason for another attempt. Never throws. */
  async #post({ body, data }: Envelope): Promise<string | null> {
    const { corruptSignature } = this.options.switches.current;
    const key = `${this.options.clientToken ?? ''}${corruptSignature ? ' ' : ''}`;
    const answer = await this.#call(body, { 'x-goog-signature': signatureOf(data, key) });
    if ('fault' in answer) return answer.fault;
    return answer.status === 200 ? null : `answered ${answer.status}`;
  }

  async #performHandshake(registration: number, tries: number): Promise<void> {
    const { clock, switches, clientToken } = this.options;
    if (this.#isClosed || registration !== this.#registration || switches.current.webhookUrl === null) return;
    const secret = String(randomInt(SECRET_RANGE.from, SECRET_RANGE.to));
    const answer = await this.#call(JSON.stringify({ clientToken: clientToken ?? '', secret }), {});
    if (registration !== this.#registration) return;
    const right = switches.current.handshake === 'strict' ? [secret] : [secret, `secret: ${secret}`];
    if ('text' in answer && answer.status === 200 && right.includes(answer.text)) {
      this.#verified = true;
      return;
    }
    this.#lastFault = 'fault' in answer ? answer.fault : `the handshake was answered ${answer.status}`;
    clock.after(this.#waitAfter(tries), () => void this.#performHandshake(registration, tries + 1));
  }

  #waitAfter(tries: number): number {
    return Math.min(this.options.switches.current.retryAfterMs * 2 ** (tries - 1), LONGEST_RETRY_MS);
  }

  async #call(
    body: string,
    headers: Record<string, string>,
  ): Promise<{ readonly status: number; readonly text: string } | { readonly fault: string }> {
    const { webhookUrl } = this.options.switches.current;
    if (webhookUrl === null) return { fault: 'there is no webhook' };
    try {
      const { statusCode, body: answer } = await request(webhookUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'APIs-Google', ...headers },
        body,
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const text = await answer.text();
      return { status: statusCode, text: text.slice(0, LONGEST_ANSWER_BYTES) };
    } catch (error) {
      return { fault: error instanceof Error ? error.message : String(error) };
    }
  }
}
