import type { ServerKeys } from '@countersign/keys';
import type { SenderReading } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';
import type { Database } from '@countersign/postgres';
import { ENSURE_SENDER_FORMAT, LOCK_SENDER_FORMAT, WRITE_SENDER_FORMAT } from './sender-format.sql.js';
import { learnFrom, type LearnedSenderFormat, type SenderEvidenceRow, type SenderLearning } from './sender-learning.js';

/** One sender of unknown type whose digits have a single reading. */
export interface ObservedSender {
  /** Result of `digestsOf` for its number. */
  readonly digests: readonly string[];
  readonly shows: SenderReading;
}

/** Senders that a gateway observed on a link, and the epoch of the evidence. */
export interface SenderObservation {
  /** The id of the bind or system. */
  readonly linkId: Uuid;
  readonly epoch: number;
  readonly senders: readonly ObservedSender[];
}

interface LockedRow extends SenderEvidenceRow {
  readonly digestVersion: number;
}

/**
 * Stores the sender evidence of links, shared by all gateways: one row per link with at most 20 keyed digests.
 *
 * All digests of a row use one version of the master key, so that no number counts twice: a row keeps the version of
 * its first digest. A gateway without that version cannot compare numbers; it discards the digests and starts again.
 */
export class SenderFormatStore {
  constructor(private readonly keys: ServerKeys) {}

  /**
   * Hex digests of a sender's number, under every version of the master key, the current one first: a number has
   * different digests on different links.
   */
  digestsOf(linkId: Uuid, e164: string): readonly [string, ...string[]] {
    const [current, ...others] = this.keys.digests('sender-number', `${linkId}:${e164}`);
    return [current.toString('hex'), ...others.map((digest) => digest.toString('hex'))];
  }

  /**
   * Adds senders that a gateway observed, in its own transaction. Safe to run twice. An older epoch or a deleted link
   * changes nothing.
   *
   * @returns the learned format, and whether this call changed it; null for an unknown link or epoch
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

  /** The evidence that this process can compare, and the version of its digests. */
  private readable({ digestVersion, ...row }: LockedRow): { before: SenderEvidenceRow; version: number } {
    const { keys } = this;
    if (row.digests.length === 0) return { before: row, version: keys.currentVersion };
    if (keys.has(digestVersion)) return { before: row, version: digestVersion };
    return { before: { ...row, reading: null, digests: [] }, version: keys.currentVersion };
  }
}

/** The epoch of a link's evidence: 0 without evidence. */
export function epochOf(learning: SenderLearning | null): number {
  return learning?.epoch ?? 0;
}
