import { STATUS, type Pdu } from '@countersign/smpp';
import type { Metrics } from '@countersign/telemetry';

const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 500];

const STATUS_NAMES: ReadonlyMap<number, string> = new Map(Object.entries(STATUS).map(([name, code]) => [code, name]));

/** What the gateway counts. Labels take few values: no phone, no id, no text, nothing that a peer may choose freely. */
export class GatewayMetrics {
  readonly messages;
  readonly messagesSentBack;
  readonly orphanReceipts;
  readonly receipts;
  readonly outbound;
  readonly answerSeconds;
  readonly batchSize;
  readonly refusedBinds;
  readonly turnedAway;
  readonly reconnects;
  readonly lostRings;
  readonly leaseRenewals;
  readonly leasesLost;
  readonly #links;
  readonly #pdus;
  readonly #pduCounts = new Map<string, Map<number, { inc(): void }>>();

  constructor(metrics: Metrics) {
    this.messages = metrics.counter({
      name: 'mo_total',
      help: 'MOs stored and answered OK, by what became of them.',
      labels: ['fate'],
    });
    this.messagesSentBack = metrics.counter({
      name: 'mo_sent_back_total',
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
      labels: ['fate'],
    });
    this.outbound = metrics.counter({
      name: 'otp_attempts_total',
      help: 'Attempts to submit a code by what came of them, and codes that were given up (failed).',
      labels: ['outcome'],
    });
    this.answerSeconds = metrics.histogram({ name: 'mo_answer_seconds', help: 'From an MO received to its OK.' });
    this.batchSize = metrics.histogram({
      name: 'mo_batch_messages',
      help: 'MOs that shared a transaction.',
      buckets: BATCH_SIZES,
    });
    this.refusedBinds = metrics.counter({
      name: 'smpp_refused_binds_total',
      help: 'Binds of others that were refused.',
      labels: ['refusal'],
    });
    this.turnedAway = metrics.counter({
      name: 'smpp_turned_away_total',
      help: 'Connections of others that were closed before they bound: too many, to make room, from nowhere, after failed binds.',
      labels: ['reason'],
    });
    this.reconnects = metrics.counter({
      name: 'smpp_reconnects_total',
      help: 'Attempts of a bind of ours to come back after a link or an attempt had failed.',
      labels: ['bind'],
    });
    this.lostRings = metrics.counter({
      name: 'bell_lost_total',
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
    this.#links = metrics.gauge({
      name: 'smpp_links',
      help: 'Links by side (bind: we connected out, listener: they connected in) and state.',
      labels: ['side', 'state'],
    });
    this.#pdus = metrics.counter({
      name: 'smpp_pdus_total',
      help: 'PDUs read and written.',
      labels: ['side', 'direction', 'command', 'status'],
    });
  }

  /** A link left one state for another; null before its first and after its last. */
  moveLink(side: 'bind' | 'listener', from: string | null, to: string | null): void {
    if (from !== null) this.#links.dec({ side, state: from });
    if (to !== null) this.#links.inc({ side, state: to });
  }

  /** Counts a PDU. On the way of every message, so the counters are looked up once and kept. */
  countPdu(side: 'bind' | 'listener', direction: 'in' | 'out', pdu: Pdu): void {
    const key = `${side}${direction}${pdu.command}`;
    const byStatus = this.#pduCounts.get(key) ?? new Map<number, { inc(): void }>();
    if (byStatus.size === 0) this.#pduCounts.set(key, byStatus);
    const known = STATUS_NAMES.has(pdu.status) ? pdu.status : UNKNOWN_STATUS;
    let count = byStatus.get(known);
    if (count === undefined) {
      const status = STATUS_NAMES.get(known) ?? 'unknown';
      byStatus.set(known, (count = this.#pdus.labels({ side, direction, command: pdu.command, status })));
    }
    count.inc();
  }
}

const UNKNOWN_STATUS = -1;
