/** Codings of documents, and `identity` for none. */
export type Coding = 'br' | 'gzip' | 'identity';

/** Preferred first among codings of equal weight: brotli is a sixth smaller than gzip. */
const CODINGS = ['br', 'gzip'] as const;

/** A coding and its weight (RFC 9110, 12.4.2 and 12.5.3). */
const ELEMENT = /^[ \t]*([!#$%&'*+.^_`|~0-9a-z-]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/i;

/**
 * The coding of an answer to a request with this `Accept-Encoding` (RFC 9110, 12.5.3): the one of the greatest weight that
 * we produce. Uncompressed without the header, when it is preferred, and when nothing else is accepted; elements that
 * cannot be read are ignored.
 */
export function codingOf(acceptEncoding: string | undefined): Coding {
  if (acceptEncoding === undefined) return 'identity';
  const weights = weightsOf(acceptEncoding);
  const weightOf = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0;
  let best: Coding = 'identity';
  // Without a weight of its own the uncompressed document is accepted, but not preferred.
  let greatest = weights.get('identity') ?? 0;
  for (const coding of CODINGS) {
    const weight = weightOf(coding);
    if (weight > 0 && (weight > greatest || (weight === greatest && best === 'identity'))) {
      best = coding;
      greatest = weight;
    }
  }
  return best;
}

/** Weights by coding in lower case; of a repeated coding the last counts. */
function weightsOf(acceptEncoding: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const element of acceptEncoding.split(',')) {
    const [, name, weight = '1'] = ELEMENT.exec(element) ?? [];
    if (name !== undefined) weights.set(canonical(name.toLowerCase()), Number(weight));
  }
  return weights;
}

/** RFC 9110, 8.4.1.3. */
const canonical = (name: string): string => (name === 'x-gzip' ? 'gzip' : name);
