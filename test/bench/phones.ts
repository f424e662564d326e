import { checkPhone } from '@countersign/phone';

/** Prefixes of mobile numbers in their countries; each number is validated below. */
const PREFIXES = ['+1415', '+447400', '+4915', '+336', '+55119', '+9198', '+8190'];
const LENGTHS: Readonly<Record<string, number>> = {
  '+1415': 12,
  '+447400': 13,
  '+4915': 14,
  '+336': 12,
  '+55119': 14,
  '+9198': 13,
  '+8190': 13,
};

/** The given number of different phones in several countries. */
export function phones(count: number): string[] {
  const found: string[] = [];
  // A fixed stride covers the number space without repeating: the same phones in every run.
  for (let at = 0; found.length < count; at += 1) {
    const prefix = PREFIXES[at % PREFIXES.length] ?? '+1415';
    const digits = (LENGTHS[prefix] ?? 12) - prefix.length;
    const candidate = prefix + String((at * 7_919_317 + 2_000_003) % 10 ** digits).padStart(digits, '2');
    if (checkPhone(candidate).ok) found.push(candidate);
  }
  return found;
}
