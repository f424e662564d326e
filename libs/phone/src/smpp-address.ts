/** An SMPP address: type of number, numbering plan, and characters (SMPP 3.4, 5.2.5 to 5.2.9). */
export interface SmppAddress {
  readonly ton: number;
  readonly npi: number;
  readonly value: string;
}

/** Type of number (SMPP 3.4, 5.2.5). Types above 2 are network specific, short codes, letters and abbreviations. */
export const TON = { unknown: 0, international: 1, national: 2 } as const;

/**
 * Numbering plans of networks other than telephony (SMPP 3.4, 5.2.6): data (X.121), telex (F.69), land mobile (E.212:
 * the digits are an IMSI), ERMES pagers, Internet (IP) and WAP. Every other plan, including reserved ones, is
 * ignored, because carriers fill the field inconsistently.
 */
const OTHER_NETWORKS: ReadonlySet<number> = new Set([3, 4, 6, 10, 14, 18]);

/** Whether the numbering plan excludes a telephone number. */
export function isOfOtherNetwork(npi: number): boolean {
  return OTHER_NETWORKS.has(npi);
}
