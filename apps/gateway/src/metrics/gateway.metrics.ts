import type { Fate } from '@countersign/session/rules';
import type { Metrics } from '@countersign/telemetry';
import type { InboundLink } from '../links/inbound-link.js';
import { LinkMetrics, type CounterChild, type HistogramChild, type Side } from './link.metrics.js';

const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 500];

/** Why an MO is answered with a retryable status. */
const RETRY_REASONS = ['throttled', 'sender_rate', 'fenced', 'queue_full', 'database_away', 'failed'] as const;
export type RetryReason = (typeof RETRY_REASONS)[number];

/** The MO metrics of one peer. */
interface MoChildren {
  readonly stored: Map<Fate, CounterChild>;
  readonly matchSeconds: HistogramChild;
}

/** Counters and histograms of the gateway. Label values are bounded: no phone, id, text or value chosen by a peer. */
export class GatewayMetrics {
  readonly links: LinkMetrics;
  readonly orphanReceipts;
  readonly receipts;
  readonly otpAttempts;
  readonly batchSize;
  readonly rejectedConnections;
  readonly lostWakeups;
  readonly leaseRenewals;
  readonly leasesLost;
  readonly #storedMos;
  readonly #retryableResponses;
  readonly #answerSeconds;
  readonly #matchSeconds;
  /** Labelled metrics of every MO, looked up once per peer. */
  readonly #mos: Readonly<Record<Side, Map<string, MoChildren>>> = { bind: new Map(), listener: new Map() };

  constructor(metrics: Metrics) {
    this.links = new LinkMetrics(metrics);
    this.#storedMos = metrics.counter({
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

  /** Counts an MO that is stored and answered ESME_ROK. `seconds`: from its PDU to the commit. */
  countStoredMo(link: InboundLink, fate: Fate, seconds: number): void {
    const { stored, matchSeconds } = this.#mosOf(link);
    let counter = stored.get(fate);
    if (counter === undefined) {
      counter = this.#storedMos.labels({ fate, ...this.linkLabels(link) });
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
    const { side, peer } = this.linkLabels(link);
    let children = this.#mos[side].get(peer);
    if (children === undefined) {
      children = { stored: new Map(), matchSeconds: this.#matchSeconds.labels({ side, peer }) };
      this.#mos[side].set(peer, children);
    }
    return children;
  }

  /** Labels of the link that carried a message. */
  linkLabels(link: InboundLink): { readonly side: Side; readonly peer: string } {
    // Only connections of our binds have a lease.
    const side = link.lease === undefined ? 'listener' : 'bind';
    return { side, peer: this.links.peerLabel(side, link.peer) };
  }
}
