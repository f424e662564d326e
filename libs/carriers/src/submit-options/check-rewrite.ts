import { faultAt, type OptionFault } from './checks.js';
import { MAX_ADDED_CHARACTERS, rewriteAddress } from './rewrite.js';
import type { RewriteRule } from './submit-options.js';

const NUMBER_PREFIX = /^(?:\+|\+?[0-9]{1,15})$/;
const WHOLE_NUMBER = /^\+?[0-9]{1,19}$/;
const DIGITS = /^\+?[0-9]*$/;

/** The first fault in rules of the right types: a rule that could give an illegal address, or an example that fails. */
export function rewriteFault(rules: readonly RewriteRule[]): OptionFault | null {
  for (const [at, rule] of rules.entries()) {
    const fault = rule.exact === true ? exactFault(rule) : prefixFault(rule);
    if (fault !== null) return { ...fault, path: [String(at), ...fault.path] };
  }
  return exampleFault(rules);
}

function exactFault({ of, match, replace }: RewriteRule): OptionFault | null {
  if (replace === '') return faultAt(['replace'], 'must not be empty in an exact rule');
  if (of === 'source') return null;
  if (!WHOLE_NUMBER.test(match)) return faultAt(['match'], 'must be digits with at most a plus before them');
  return WHOLE_NUMBER.test(replace) ? null : faultAt(['replace'], 'must be digits with at most a plus before them');
}

function prefixFault({ match, replace }: RewriteRule): OptionFault | null {
  if (!NUMBER_PREFIX.test(match))
    return faultAt(['match'], 'must be a prefix of up to 15 digits with at most a plus before them, or exact be true');
  if (!DIGITS.test(replace)) return faultAt(['replace'], 'must be digits with at most a plus before them');
  const most = match.length + MAX_ADDED_CHARACTERS;
  return replace.length <= most
    ? null
    : faultAt(['replace'], `must have at most ${most} characters: ${MAX_ADDED_CHARACTERS} more than match`);
}

function exampleFault(rules: readonly RewriteRule[]): OptionFault | null {
  for (const [at, { of, examples = [] }] of rules.entries()) {
    for (const [index, { from, to }] of examples.entries()) {
      const { address, rule } = rewriteAddress(rules, of, from);
      if (address === to && rule === at) continue;
      const by = rule === null ? 'no rule matches it' : `by rewrite.${rule}`;
      const wanted = address === to ? `by rewrite.${at}` : `"${to}"`;
      return faultAt([at, 'examples', index], `does not hold: "${from}" becomes "${address}" (${by}), not ${wanted}`);
    }
  }
  return null;
}
