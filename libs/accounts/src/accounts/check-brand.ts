import { GSM_SEGMENT_SEPTETS, gsmSeptets } from '@countersign/text';
import { SLUG } from './brand-formats.js';

/** The fields of a brand that are checked on saving, because they become part of an SMS (contract, Token and OTP). */
export interface BrandText {
  readonly name: string;
  readonly slug: string;
  readonly instruction: string;
  /** The site on which phones fill in a code, or null. */
  readonly domain: string | null;
}

type BrandField = keyof BrandText;

export type BrandCheck =
  /** `septets` of the text that phones will send. */
  | { readonly ok: true; readonly septets: number }
  | { readonly ok: false; readonly field: BrandField; readonly message: string };

/** Names and instructions are one line without control characters. */
const CONTROL_CHARACTER = /\p{Cc}/u;
const TOKEN_CHARACTERS = 16;
const ANY_CODE = '000000';

/**
 * Whether both texts of a brand fit one GSM-7 segment, the one that phones send, including the token, and the one
 * with a code: a longer text, or a character outside the alphabet, would cost several SMS. Returns the first fault in
 * field order.
 */
export function checkBrand({ name, slug, instruction, domain }: BrandText): BrandCheck {
  const codeText = `${ANY_CODE} is your ${name} code. Do not share it.`;
  const nameFault = lineFault(name) ?? segmentFault(codeText, 'SMS with the code');
  if (nameFault !== null) return { ok: false, field: 'name', message: nameFault };
  if (!SLUG.test(slug)) return { ok: false, field: 'slug', message: 'must be 2 to 12 characters of A-Z and 0-9' };
  const sent = `AUTH-${slug}-${'0'.repeat(TOKEN_CHARACTERS)}\n${instruction}`;
  const instructionFault = lineFault(instruction) ?? segmentFault(sent, 'message');
  if (instructionFault !== null) return { ok: false, field: 'instruction', message: instructionFault };
  const domainFault =
    domain === null ? null : segmentFault(`${codeText}\n@${domain} #${ANY_CODE}`, 'SMS with the code');
  if (domainFault !== null) return { ok: false, field: 'domain', message: domainFault };
  return { ok: true, septets: gsmSeptets(sent) ?? 0 };
}

function lineFault(text: string): string | null {
  if (text.trim() === '') return 'must not be empty';
  return CONTROL_CHARACTER.test(text) ? 'must be a single line' : null;
}

function segmentFault(text: string, what: string): string | null {
  const septets = gsmSeptets(text);
  if (septets === null) return 'has a character outside the GSM-7 alphabet';
  const over = septets - GSM_SEGMENT_SEPTETS;
  return over > 0 ? `makes the ${what} ${over} characters longer than one SMS` : null;
}
