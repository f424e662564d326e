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

/** Evidence of a link's senders, and the epoch that it belongs to. */
export interface SenderObservation {
  /** The bind or the system. */
  readonly linkId: Uuid;
  readonly epoch: number;
  readonly senders: readonly ShownSender[];
}

/** How each link writes its senders, as all gateways together have learned it: one row a link, 20 keyed digests at most. */
export class SenderFormatStore {
  constructor(private readonly keys: ServerKeys) {}

  /** The digest of a sender's number, as hex: two links never have the same one for a number. */
  digestOf(linkId: Uuid, e164: string): string {
    return this.keys.digest('sender-number', `${linkId}:${e164}`).toString('hex');
  }

  /**
   * Adds what a gateway saw, in a transaction of its own. Safe to run twice. Evidence of an older epoch, or of a link that
   * was deleted, changes nothing.
   *
   * @returns what is learned of the link, and whether this call changed it; null for a link without such an epoch
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
