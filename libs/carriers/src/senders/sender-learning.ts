import type { SenderReading, SenderRule, SenderFormat } from '@countersign/phone';

/** Different senders with the same single reading after which the format of a link is learned (contract, MO matching). */
export const SENDERS_TO_LEARN = 20;

export const LEARNED_SENDER_FORMATS = ['international', 'national', 'mixed'] as const;
/** The learned format of a link in `auto`. `mixed`: senders had different readings, and learning has stopped. */
export type LearnedSenderFormat = (typeof LEARNED_SENDER_FORMATS)[number];

/** The sender evidence of a link; `epoch` is incremented whenever it is discarded. */
export interface SenderLearning {
  readonly learned: LearnedSenderFormat | null;
  readonly epoch: number;
}

/** One sender of unknown type whose digits have a single reading. */
export interface ShownSender {
  /** Hex keyed digest of its number. */
  readonly digest: string;
  readonly shows: SenderReading;
}

/** The evidence of a link: the common reading of all its senders, and their digests until the format is learned. */
export interface SenderEvidenceRow {
  readonly learned: LearnedSenderFormat | null;
  readonly reading: SenderReading | null;
  readonly digests: readonly string[];
}

const MIXED: SenderEvidenceRow = { learned: 'mixed', reading: null, digests: [] };

/**
 * Adds senders to the evidence of a link. Senders with the same reading count once each, up to 20. The first one that
 * contradicts them, or the learned format, makes the link `mixed` permanently: otherwise an attacker who outnumbers
 * the honest senders in a quiet hour could teach the link a wrong format. Pure.
 */
export function learnFrom(row: SenderEvidenceRow, senders: readonly ShownSender[]): SenderEvidenceRow {
  let now = row;
  for (const sender of senders) now = learnFromOne(now, sender);
  return now;
}

function learnFromOne(row: SenderEvidenceRow, { digest, shows }: ShownSender): SenderEvidenceRow {
  if (row.learned === 'mixed') return row;
  if (row.learned !== null) return row.learned === shows ? row : MIXED;
  if (row.reading !== null && row.reading !== shows) return MIXED;
  if (row.digests.includes(digest)) return row;
  const digests = [...row.digests, digest];
  if (digests.length < SENDERS_TO_LEARN) return { learned: null, reading: shows, digests };
  return { learned: shows, reading: null, digests: [] };
}

/** The rule for parsing senders of a link. A learned format applies in `auto` only; `mixed` counts as none. */
export function senderRuleOf(format: SenderFormat, learned: LearnedSenderFormat | null): SenderRule {
  return { format, learned: format !== 'auto' || learned === 'mixed' ? null : learned };
}
