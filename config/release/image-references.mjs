// Finds image references in the production files and parses them.
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';

/** Compose merges anchors with `<<`. */
const SCHEMA = CORE_SCHEMA.withTags(mergeTag);
const DEFAULT_REGISTRY = 'docker.io';
const DEFAULT_TAG = 'latest';
const REFERENCE =
  /^(?<name>(?:[a-z0-9.-]+:\d+\/)?[a-z0-9._/-]+)(?::(?<tag>[\w][\w.-]{0,127}))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$/;

/**
 * Parses a reference as docker does: the default registry is Docker Hub, and its default namespace is `library/`.
 *
 * @param {string} text `haproxy:3.2-bookworm`, `ghcr.io/owner/name:tag@sha256:…`
 * @returns {{ registry: string, repository: string, tag: string, digest: string | null, tagged: string }} tagged: the
 * reference as it was written, without its digest
 * @throws {Error} if the text is no reference
 */
export function parseReference(text) {
  const { name, tag = DEFAULT_TAG, digest = null } = REFERENCE.exec(text)?.groups ?? {};
  if (name === undefined) throw new Error(`${JSON.stringify(text)} is no image reference`);
  const [first, ...rest] = name.split('/');
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const path = hasRegistry ? rest.join('/') : name;
  const repository = !hasRegistry && rest.length === 0 ? `library/${path}` : path;
  const [tagged] = text.split('@', 1);
  return { registry: hasRegistry ? first : DEFAULT_REGISTRY, repository, tag, digest, tagged };
}

/**
 * The images of a compose file, without duplicates; for a service that is built here, the name that its build gets.
 *
 * @param {string} text
 * @returns {string[]}
 */
export function imagesOfCompose(text) {
  const pulled = Object.values(load(text, { schema: SCHEMA }).services).filter(({ build }) => build === undefined);
  return [...new Set(pulled.map(({ image }) => image))];
}

/**
 * The base images of a Dockerfile (FROM), without duplicates; arguments are replaced by their defaults.
 *
 * @param {string} text
 * @returns {string[]}
 */
export function imagesOfDockerfile(text) {
  const defaults = new Map([...text.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]));
  const stages = new Set([...text.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, name]) => name));
  const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
  const images = bases.filter((base) => !stages.has(base)).map((base) => imageOf(base, defaults));
  return [...new Set(images)];
}

function imageOf(base, defaults) {
  const [, name] = /^\$\{(\w+)\}$/.exec(base) ?? [];
  if (name === undefined) return base;
  const image = defaults.get(name);
  if (image === undefined) throw new Error(`${base} has no default in the Dockerfile`);
  return image;
}

/**
 * Replaces references in the text. A reference ends at the end of its line or at a quote.
 *
 * @param {string} text
 * @param {ReadonlyMap<string, string>} replacements
 * @returns {string}
 */
export function replaceReferences(text, replacements) {
  let replaced = text;
  for (const [from, to] of replacements) {
    const whole = new RegExp(`(^ARG \\w+=|^FROM |^\\s*image: ['"]?)${escaped(from)}(?=['"\\s]|$)`, 'gm');
    replaced = replaced.replace(whole, (_, before) => `${before}${to}`);
  }
  return replaced;
}

const escaped = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
