import type { ServerKeys } from '@countersign/keys';
import type { SenderReading } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';
import type { Database } from '@countersign/postgres';
import { ENSURE_SENDER_FORMAT, LOCK_SENDER_FORMAT, WRITE_SENDER_FORMAT } from './sender-format.sql.js';
import { learnFrom, type LearnedSenderFormat, type SenderEvidenceRow, type SenderLearning } from './sender-learning.js';

/** One sender of unknown type whose digits have one reading alone. */
export interface ObservedSender {
  /** What `digestsOf` gives for its number. */
  readonly digests: readonly string[];
  readonly shows: SenderReading;
}

/** Senders that a gateway observed on a link, and the epoch of the evidence that they belong to. */
export interface SenderObservation {
  /** The bind or the system. */
  readonly linkId: Uuid;
  readonly epoch: number;
  readonly senders: readonly ObservedSender[];
}

interface LockedRow extends SenderEvidenceRow {
  readonly digestVersion: number;
}

/**
 * Stores the sender evidence of links, shared by all gateways: one row per link, 20 keyed digests at most.
 *
 * All digests of a row are of one version of the master key, so that no number counts twice: a row keeps the version of its
 * first digest. A gateway that does not list that version cannot tell which numbers were counted, discards them and begins
 * anew.
 */
export class SenderFormatStore {
  constructor(private readonly keys: ServerKeys) {}

  /**
   * Digests of a sender's number, as hex, under every version of the master key in the order of the ring: two links never
   * have the same one for a number.
   */
  digestsOf(linkId: Uuid, e164: string): readonly [string, ...string[]] {
    const [current, ...others] = this.keys.digests('sender-number', `${linkId}:${e164}`);
    return [current.toString('hex'), ...others.map((digest) => digest.toString('hex'))];
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
      const [row] = await tx.query<LockedRow>(LOCK_SENDER_FORMAT, [linkId, epoch]);
      if (row === undefined) return null;
      const { before, version } = this.readable(row);
      const at = this.keys.versions.indexOf(version);
      const shown = senders.map(({ digests, shows }) => ({ digest: digests[at] ?? '', shows }));
      const after = learnFrom(before, shown);
      if (after !== before) {
        await tx.query(WRITE_SENDER_FORMAT, [linkId, after.learned, after.reading, after.digests, version]);
      }
      return { learned: after.learned, changed: after.learned !== before.learned };
    });
  }

  /** The evidence that this process can compare numbers with, and the version of its digests. */
  private readable({ digestVersion, ...row }: LockedRow): { before: SenderEvidenceRow; version: number } {
    const { keys } = this;
    if (row.digests.length === 0) return { before: row, version: keys.currentVersion };
    if (keys.has(digestVersion)) return { before: row, version: digestVersion };
    return { before: { ...row, reading: null, digests: [] }, version: keys.currentVersion };
  }
}

/** The epoch of a link's evidence: 0 before there is any. */
export function epochOf(learning: SenderLearning | null): number {
  return learning?.epoch ?? 0;
}
