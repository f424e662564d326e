/** An address as SMPP carries it: type of number, numbering plan, and the characters (SMPP 3.4, 5.2.5 to 5.2.9). */
export interface SmppAddress {
  readonly ton: number;
  readonly npi: number;
  readonly value: string;
}

/** Type of number (SMPP 3.4, 5.2.5). Types above 2 are network specific, short codes, letters and abbreviations. */
export const TON = { unknown: 0, international: 1, national: 2 } as const;

/**
 * Numbering plans of other networks than the telephone's (SMPP 3.4, 5.2.6): data (X.121), telex (F.69), land mobile
 * (E.212: the digits are an IMSI), ERMES pagers, Internet (IP) and WAP. Every other plan, reserved ones included, is
 * ignored, because carriers fill the field at random.
 */
const OTHER_NETWORKS: ReadonlySet<number> = new Set([3, 4, 6, 10, 14, 18]);

/** Whether the numbering plan says that the address is no telephone number. */
export function isOfOtherNetwork(npi: number): boolean {
  return OTHER_NETWORKS.has(npi);
}
