import type { ServerKeys } from '@countersign/keys';
import type { Database, Uuid } from '@countersign/postgres';
import { ENSURE_SENDER_FORMAT, LOCK_SENDER_FORMAT, WRITE_SENDER_FORMAT } from './sender-format.sql.js';
import {
  learnFrom,
  type LearnedSenderFormat,
  type SenderEvidenceRow,
  type SenderLearning,
  type ShownSender,
} from './sender-learning.js';

/** Senders that a gateway observed on a link, and the epoch of the evidence that they belong to. */
export interface SenderObservation {
  /** The bind or the system. */
  readonly linkId: Uuid;
  readonly epoch: number;
  readonly senders: readonly ShownSender[];
}

/** Stores the sender evidence of links, shared by all gateways: one row per link, 20 keyed digests at most. */
export class SenderFormatStore {
  constructor(private readonly keys: ServerKeys) {}

  /** The digest of a sender's number, as hex. It differs between links. */
  digestOf(linkId: Uuid, e164: string): string {
    return this.keys.digest('sender-number', `${linkId}:${e164}`).toString('hex');
  }

  /**
   * Adds senders that a gateway observed, in a transaction of its own. Safe to run twice. An older epoch or a deleted link
   * changes nothing.
   *
   * @returns the learned format, and whether this call changed it; null where the link or the epoch does not exist any more
   */
  addSenders(
    database: Pick<Database, 'transaction'>,
    { linkId, epoch, senders }: SenderObservation,
  ): Promise<{ readonly learned: LearnedSenderFormat | null; readonly changed: boolean } | null> {
    return database.transaction(async (tx) => {
      await tx.query(ENSURE_SENDER_FORMAT, [linkId]);
      const [before] = await tx.query<SenderEvidenceRow>(LOCK_SENDER_FORMAT, [linkId, epoch]);
      if (before === undefined) return null;
      const after = learnFrom(before, senders);
      if (after !== before) await tx.query(WRITE_SENDER_FORMAT, [linkId, after.learned, after.reading, after.digests]);
      return { learned: after.learned, changed: after.learned !== before.learned };
    });
  }
}

/** The epoch of a link's evidence: 0 before there is any. */
export function epochOf(learning: SenderLearning | null): number {
  return learning?.epoch ?? 0;
}
