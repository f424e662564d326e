/** An address in a PDU (SMPP 3.4, 4.7.1). */
export interface SmscAddress {
  readonly ton: number;
  readonly npi: number;
  readonly value: string;
}

const TON = { unknown: 0, international: 1, shortCode: 3, alphanumeric: 5 } as const;
const NPI = { unknown: 0, isdn: 1 } as const;

/** Longest alphanumeric sender (3GPP TS 23.040, 9.1.2.5). */
const ALPHANUMERIC_CHARACTERS = 11;
const INTERNATIONAL = /^\+[0-9]{2,15}$/;
const SHORT_CODE = /^[0-9]{3,8}$/;
const DIGITS = /^[0-9]{1,20}$/;
const ALPHANUMERIC = /^(?=.*[A-Za-z])[\x20-\x7e]+$/;

/**
 * Parses `+14155552671`, a short code, other digits or a name to the address that a carrier would send; null for
 * anything else.
 */
export function parseAddress(text: string): SmscAddress | null {
  if (INTERNATIONAL.test(text)) return { ton: TON.international, npi: NPI.isdn, value: text.slice(1) };
  if (SHORT_CODE.test(text)) return { ton: TON.shortCode, npi: NPI.unknown, value: text };
  if (DIGITS.test(text)) return { ton: TON.unknown, npi: NPI.isdn, value: text };
  if (text.length > ALPHANUMERIC_CHARACTERS || !ALPHANUMERIC.test(text)) return null;
  return { ton: TON.alphanumeric, npi: NPI.unknown, value: text };
}

/** The address in its usual form: an international number with its plus. */
export function renderAddress({ ton, value }: SmscAddress): string {
  return ton === TON.international && !value.startsWith('+') ? `+${value}` : value;
}
