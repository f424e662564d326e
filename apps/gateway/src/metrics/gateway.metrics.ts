import type { Metrics } from '@countersign/telemetry';
import type { InboundLink } from '../links/inbound-link.js';
import { LinkMetrics, type Side } from './link.metrics.js';

const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 500];

/** What the gateway counts. Labels take few values: no phone, no id, no text, nothing that a peer may choose freely. */
export class GatewayMetrics {
  readonly links: LinkMetrics;
  readonly messages;
  readonly retryableResponses;
  readonly orphanReceipts;
  readonly receipts;
  readonly outbound;
  readonly answerSeconds;
  readonly matchSeconds;
  readonly batchSize;
  readonly rejectedConnections;
  readonly lostWakeups;
  readonly leaseRenewals;
  readonly leasesLost;

  constructor(metrics: Metrics) {
    this.links = new LinkMetrics(metrics);
    this.messages = metrics.counter({
      name: 'mo_total',
      help: 'MOs stored and answered OK, by what became of them.',
      labels: ['fate', 'side', 'peer'],
    });
    this.retryableResponses = metrics.counter({
      name: 'mo_retryable_responses_total',
      help: 'MOs answered with a retryable status, because they could not be stored.',
      labels: ['reason'],
    });
    this.orphanReceipts = metrics.counter({
      name: 'receipts_orphaned_total',
      help: 'Delivery receipts that belong to no message of ours: they name none, or waited for it in vain.',
    });
    this.receipts = metrics.counter({
      name: 'receipts_total',
      help: "Delivery receipts, by what became of each; parked: it came before the response, or is nobody's.",
      labels: ['fate', 'side', 'peer'],
    });
    this.outbound = metrics.counter({
      name: 'otp_attempts_total',
      help: 'Attempts to submit a code by what came of them, and codes that were given up (failed).',
      labels: ['outcome'],
    });
    this.answerSeconds = metrics.histogram({ name: 'mo_answer_seconds', help: 'From an MO received to its OK.' });
    this.matchSeconds = metrics.histogram({
      name: 'mo_match_seconds',
      help: 'From an MO received to the commit that approved the session of its token.',
      labels: ['side', 'peer'],
    });
    this.batchSize = metrics.histogram({
      name: 'mo_batch_messages',
      help: 'MOs that shared a transaction.',
      buckets: BATCH_SIZES,
    });
    this.rejectedConnections = metrics.counter({
      name: 'smpp_connections_rejected_total',
      help: 'Connections of others that were closed before they bound: too many, to make room, from nowhere, after failed binds.',
      labels: ['reason'],
    });
    this.lostWakeups = metrics.counter({
      name: 'wakeups_lost_total',
      help: 'Reports of rings that were lost, at most one a second; the relay finds what they told of.',
    });
    this.leaseRenewals = metrics.counter({
      name: 'lease_renewals_total',
      help: 'Renewals of all leases that a gateway holds on connections of its binds, by what came of them.',
      labels: ['outcome'],
    });
    this.leasesLost = metrics.counter({
      name: 'leases_lost_total',
      help: 'Leases that were lost, and whose connections were cut at once: not renewed in time, or taken by another gateway.',
      labels: ['reason'],
    });
  }

  /** Whose message it was. */
  linkLabels(link: InboundLink): { readonly side: Side; readonly peer: string } {
    // A connection of a bind of ours is acted on under a lease, and no other.
    const side = link.lease === undefined ? 'listener' : 'bind';
    return { side, peer: this.links.peerLabel(side, link.peer) };
  }
}
