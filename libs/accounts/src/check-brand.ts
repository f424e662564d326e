import { GSM_SEGMENT_SEPTETS, gsmSeptets } from '@countersign/text';

/** What of a brand is checked when it is saved (contract, Token and Admin). */
export interface BrandText {
  readonly slug: string;
  readonly instruction: string;
}

export type BrandCheck =
  | { readonly ok: true; readonly septets: number }
  | { readonly ok: false; readonly field: 'slug' | 'instruction'; readonly message: string };

const SLUG = /^[A-Z0-9]{2,12}$/;
/** The instruction is one line, and nothing in it moves a cursor or rings a bell. */
const CONTROL_CHARACTER = /\p{Cc}/u;
const TOKEN_CHARACTERS = 16;

/**
 * Whether the text that phones will send for this brand fits one GSM-7 segment, token included: longer, or with one
 * character outside the alphabet, it would arrive in parts and cost the end user several SMS.
 */
export function checkBrand({ slug, instruction }: BrandText): BrandCheck {
  if (!SLUG.test(slug)) return refuse('slug', 'must be 2 to 12 characters of A-Z and 0-9');
  if (instruction.trim() === '') return refuse('instruction', 'must not be empty');
  if (CONTROL_CHARACTER.test(instruction)) return refuse('instruction', 'must be a single line');
  const septets = gsmSeptets(`AUTH-${slug}-${'0'.repeat(TOKEN_CHARACTERS)}\n${instruction}`);
  if (septets === null) return refuse('instruction', 'has a character outside the GSM-7 alphabet');
  if (septets > GSM_SEGMENT_SEPTETS) {
    const over = septets - GSM_SEGMENT_SEPTETS;
    return refuse('instruction', `makes the message ${over} characters longer than one SMS`);
  }
  return { ok: true, septets };
}

function refuse(field: 'slug' | 'instruction', message: string): BrandCheck {
  return { ok: false, field, message };
}
