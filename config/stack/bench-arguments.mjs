// The command line of `npm run bench`.
import { StartError } from './progress.mjs';

/** Every section; soak, memory and growth run only if they are named. */
const SECTIONS = [
  'create',
  'inbound',
  'check',
  'poll',
  'smpp',
  'rcs',
  'webhooks',
  'lifecycle',
  'realtime',
  'soak',
  'usage',
  'overview',
  'overload',
  'scale',
  'memory',
  'growth',
];
/** The sections that use only the public interfaces of a build. */
const COMPARED = ['create', 'create-half', 'inbound', 'inbound-half', 'check', 'poll', 'webhooks'];
/** The sections whose measured time is known to the processes of the product. */
const PROFILED = ['create', 'inbound', 'check', 'poll', 'webhooks', 'lifecycle', 'usage', 'overview'];
/** Compared when no section is named. */
const COMPARED_BY_DEFAULT = ['create', 'inbound'];
const DEFAULT_PAIRS = 10;
const MAX_PAIRS = 1_000;

const USAGE = `npm run bench [section …]
npm run bench -- --profile <section>
npm run bench -- --against <commit> [--pairs N] [section …]
sections: ${SECTIONS.join(', ')}
with --profile: ${PROFILED.join(', ')}
with --against: ${COMPARED.join(', ')}`;

/**
 * @param {string[]} words the command line after the script
 * @returns {{ sections: string[], against: string | undefined, pairs: number, profile: boolean }}
 * sections: none for all
 * @throws {StartError} names the fault and shows the usage
 */
export function parseBenchArguments(words) {
  const named = { sections: [], against: undefined, pairs: undefined, profiled: undefined };
  const rest = [...words];
  while (rest.length > 0) {
    const word = rest.shift();
    if (word === '--against') named.against = valueOf(word, rest);
    else if (word === '--pairs') named.pairs = pairsOf(valueOf(word, rest));
    else if (word === '--profile') named.profiled = valueOf(word, rest);
    else if (word.startsWith('-')) throw fault(`${word} is not an option`);
    else named.sections.push(word);
  }
  const { sections, against, pairs, profiled } = named;
  if (profiled !== undefined) return profileOf(profiled, named);
  if (against === undefined && pairs !== undefined) throw fault('--pairs needs --against <commit>');
  checkSections(sections, against === undefined ? SECTIONS : COMPARED, '--against');
  const chosen = against !== undefined && sections.length === 0 ? COMPARED_BY_DEFAULT : sections;
  return { sections: [...new Set(chosen)], against, pairs: pairs ?? DEFAULT_PAIRS, profile: false };
}

function profileOf(section, { sections, against, pairs }) {
  if (against !== undefined || pairs !== undefined) throw fault('--profile cannot be combined with --against');
  if (sections.length > 0) throw fault('--profile takes one section');
  checkSections([section], PROFILED, '--profile');
  return { sections: [section], against, pairs: DEFAULT_PAIRS, profile: true };
}

const fault = (message) => new StartError(`${message}\n${USAGE}`);

function valueOf(option, rest) {
  const value = rest.shift();
  if (value === undefined || value === '' || value.startsWith('-')) throw fault(`${option} needs a value`);
  return value;
}

function pairsOf(text) {
  const pairs = Number(text);
  if (!/^\d+$/.test(text) || pairs < 1 || pairs > MAX_PAIRS) {
    throw fault(`--pairs must be an integer from 1 to ${MAX_PAIRS}, and is ${text}`);
  }
  return pairs;
}

function checkSections(sections, known, option) {
  for (const section of sections) {
    if (known.includes(section)) continue;
    const exists = known !== SECTIONS && SECTIONS.includes(section);
    throw fault(exists ? `${section} has no ${option}` : `${section} is not a section`);
  }
}
