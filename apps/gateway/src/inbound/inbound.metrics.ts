import { Injectable } from '@nestjs/common';
import type { Fate } from '@countersign/session/rules';
import { Metrics } from '@countersign/telemetry';
import type { InboundLink } from '../links/inbound-link.js';
import { LinkMetrics, type CounterChild, type HistogramChild, type Side } from '../links/link.metrics.js';

const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 500];

/** Why an MO is answered with a retryable status. */
const RETRY_REASONS = [
  'throttled',
  'sender_rate',
  'text_rate',
  'untrusted_rate',
  'outdated_system',
  'evicted_system',
  'fenced',
  'queue_full',
  'database_away',
  'failed',
] as const;
export type RetryReason = (typeof RETRY_REASONS)[number];

/** The MO metrics of one peer. */
interface MoChildren {
  readonly stored: Map<Fate, CounterChild>;
  readonly matchSeconds: HistogramChild;
}

/** Metrics of MOs. Label values are bounded: no phone, id, text or value chosen by a peer. */
@Injectable()
export class InboundMetrics {
  readonly batchSize;
  readonly #stored;
  readonly #retryableResponses;
  readonly #answerSeconds;
  readonly #matchSeconds;
  /** Labelled metrics of every MO, looked up once per peer. */
  readonly #mos: Readonly<Record<Side, Map<string, MoChildren>>> = { bind: new Map(), listener: new Map() };

  constructor(
    metrics: Metrics,
    private readonly links: LinkMetrics,
  ) {
    this.#stored = metrics.counter({
      name: 'mo_total',
      help: 'MOs stored and answered ESME_ROK, by fate.',
      labels: ['fate', 'side', 'peer'],
    });
    const retryableResponses = metrics.counter({
      name: 'mo_retryable_responses_total',
      help: 'MOs answered with a retryable status because they were not stored.',
      labels: ['reason'],
    });
    this.#retryableResponses = new Map(RETRY_REASONS.map((reason) => [reason, retryableResponses.labels({ reason })]));
    this.#answerSeconds = metrics.histogram({ name: 'mo_answer_seconds', help: 'Time from an MO to its ESME_ROK.' });
    this.#matchSeconds = metrics.histogram({
      name: 'mo_match_seconds',
      help: 'Time from an MO to the commit that approved the session of its token.',
      labels: ['side', 'peer'],
    });
    this.batchSize = metrics.histogram({
      name: 'mo_batch_messages',
      help: 'MOs per transaction.',
      buckets: BATCH_SIZES,
    });
  }

  /** Counts an MO that is stored and answered ESME_ROK. `seconds`: from its PDU to the commit. */
  countStoredMo(link: InboundLink, fate: Fate, seconds: number): void {
    const { stored, matchSeconds } = this.#mosOf(link);
    let counter = stored.get(fate);
    if (counter === undefined) {
      counter = this.#stored.labels({ fate, ...this.links.labelsOf(link) });
      stored.set(fate, counter);
    }
    counter.inc();
    this.#answerSeconds.observe(seconds);
    if (fate === 'matched') matchSeconds.observe(seconds);
  }

  /** Counts an MO that is answered with a retryable status. */
  countRetryableResponse(reason: RetryReason): void {
    this.#retryableResponses.get(reason)?.inc();
  }

  #mosOf(link: InboundLink): MoChildren {
    const { side, peer } = this.links.labelsOf(link);
    let children = this.#mos[side].get(peer);
    if (children === undefined) {
      children = { stored: new Map(), matchSeconds: this.#matchSeconds.labels({ side, peer }) };
      this.#mos[side].set(peer, children);
    }
    return children;
  }
}
