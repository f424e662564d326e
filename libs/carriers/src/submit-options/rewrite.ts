import type { RewriteRule, Rewritten } from './submit-options.js';

/** Maximum characters that a prefix rule may add: a number of 15 digits and a plus stays within an SMPP address. */
export const MAX_ADDED_CHARACTERS = 4;

export interface RewrittenAddress {
  readonly address: string;
  /** Index of the rule that was applied; null if none matches. */
  readonly rule: number | null;
}

/**
 * Applies the first matching rule to an address: E.164, a short code or alphanumeric. A match without a plus is compared
 * with the digits after the plus. A prefix matches longer addresses only, so that none becomes empty.
 */
export function rewriteAddress(rules: readonly RewriteRule[], of: Rewritten, address: string): RewrittenAddress {
  for (const [rule, { of: side, match, exact = false, replace }] of rules.entries()) {
    if (side !== of) continue;
    const compared = match.startsWith('+') ? address : address.replace(/^\+/, '');
    if (exact && compared === match) return { address: replace, rule };
    if (!exact && compared.length > match.length && compared.startsWith(match))
      return { address: replace + compared.slice(match.length), rule };
  }
  return { address, rule: null };
}
