import { Injectable } from '@nestjs/common';
import { Metrics } from '@countersign/telemetry';
import type { InboundLink } from '../links/inbound-link.js';
import { LinkMetrics } from '../links/link.metrics.js';

const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 500];

/** Metrics of MOs. Label values are bounded: no phone, id, text or value chosen by a peer. */
@Injectable()
export class InboundMetrics {
  readonly stored;
  readonly retryableResponses;
  readonly answerSeconds;
  readonly matchSeconds;
  readonly batchSize;

  constructor(
    metrics: Metrics,
    private readonly links: LinkMetrics,
  ) {
    this.stored = metrics.counter({
      name: 'mo_total',
      help: 'MOs stored and answered ESME_ROK, by fate.',
      labels: ['fate', 'side', 'peer'],
    });
    this.retryableResponses = metrics.counter({
      name: 'mo_retryable_responses_total',
      help: 'MOs answered with a retryable status because they were not stored.',
      labels: ['reason'],
    });
    this.answerSeconds = metrics.histogram({ name: 'mo_answer_seconds', help: 'Time from an MO to its ESME_ROK.' });
    this.matchSeconds = metrics.histogram({
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

  /** Labels of the link that carried a message. */
  labelsOf(link: InboundLink): ReturnType<LinkMetrics['labelsOf']> {
    return this.links.labelsOf(link);
  }
}
