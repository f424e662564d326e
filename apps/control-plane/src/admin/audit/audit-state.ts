/** States of this service have fewer than 10 levels. A reader's stack holds some thousand. */
const MAX_LEVELS = 64;
const STRINGS = /"(?:[^"\\]|\\.)*"/g;
const BRACKETS = /[[\]{}]/g;

/**
 * Parses a state of an audit entry from the JSON text of its column. The daemons' database role may append entries of
 * its own, so a state that is no object, or nested too deeply for masking and rendering, becomes `{ unreadable }`: no
 * entry may make its page unreadable.
 *
 * @param text JSON that PostgreSQL has validated
 */
export function parseState(text: string | null): unknown {
  if (text === null) return null;
  if (levelsOf(text) > MAX_LEVELS) return { unreadable: `JSON of more than ${MAX_LEVELS} levels` };
  const state: unknown = JSON.parse(text);
  if (state === null) return null;
  return typeof state === 'object' && !Array.isArray(state) ? state : { unreadable: 'JSON that is not an object' };
}

function levelsOf(json: string): number {
  let level = 0;
  let deepest = 0;
  for (const [bracket] of json.replaceAll(STRINGS, '').matchAll(BRACKETS)) {
    level += bracket === '[' || bracket === '{' ? 1 : -1;
    deepest = Math.max(deepest, level);
  }
  return deepest;
}
