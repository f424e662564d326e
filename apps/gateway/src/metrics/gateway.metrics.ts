import type { Metrics } from '@countersign/telemetry';
import type { InboundLink } from '../links/inbound-link.js';
import { LinkMetrics, type Side } from './link.metrics.js';

const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 500];

/** Counters and histograms of the gateway. Label values are bounded: no phone, id, text or value chosen by a peer. */
export class GatewayMetrics {
  readonly links: LinkMetrics;
  readonly storedMos;
  readonly retryableResponses;
  readonly orphanReceipts;
  readonly receipts;
  readonly otpAttempts;
  readonly answerSeconds;
  readonly matchSeconds;
  readonly batchSize;
  readonly rejectedConnections;
  readonly lostWakeups;
  readonly leaseRenewals;
  readonly leasesLost;

  constructor(metrics: Metrics) {
    this.links = new LinkMetrics(metrics);
    this.storedMos = metrics.counter({
      name: 'mo_total',
      help: 'MOs stored and answered ESME_ROK, by fate.',
      labels: ['fate', 'side', 'peer'],
    });
    this.retryableResponses = metrics.counter({
      name: 'mo_retryable_responses_total',
      help: 'MOs answered with a retryable status because they were not stored.',
      labels: ['reason'],
    });
    this.orphanReceipts = metrics.counter({
      name: 'receipts_orphaned_total',
      help: 'Delivery receipts without a message id, or not matched to a message in time.',
    });
    this.receipts = metrics.counter({
      name: 'receipts_total',
      help: 'Delivery receipts by fate; parked: no response with its message id is recorded yet; refused: too many of these.',
      labels: ['fate', 'side', 'peer'],
    });
    this.otpAttempts = metrics.counter({
      name: 'otp_attempts_total',
      help: 'Attempts to submit a code, by outcome, and codes that failed for good (failed).',
      labels: ['outcome'],
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
    this.rejectedConnections = metrics.counter({
      name: 'smpp_connections_rejected_total',
      help: 'Connections closed before a bind: over a limit, evicted, address in no network of a system, or after failed binds.',
      labels: ['reason'],
    });
    this.lostWakeups = metrics.counter({
      name: 'wakeups_lost_total',
      help: 'Reports of lost job notifications, at most one a second; the poll finds the due rows.',
    });
    this.leaseRenewals = metrics.counter({
      name: 'lease_renewals_total',
      help: 'Renewals of all bind connection leases of the gateway, by outcome.',
      labels: ['outcome'],
    });
    this.leasesLost = metrics.counter({
      name: 'leases_lost_total',
      help: 'Leases lost, their connections closed at once: not renewed in time, or taken by another gateway.',
      labels: ['reason'],
    });
  }

  /** Labels of the link that carried a message. */
  linkLabels(link: InboundLink): { readonly side: Side; readonly peer: string } {
    // Only connections of our binds have a lease.
    const side = link.lease === undefined ? 'listener' : 'bind';
    return { side, peer: this.links.peerLabel(side, link.peer) };
  }
}
