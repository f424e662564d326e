// A client of image registries: OCI distribution specification 1.1 and the token authentication of CNCF Distribution.
import { createHash } from 'node:crypto';

/** Docker Hub serves its API under another host name than that of its images. */
const HUB = 'docker.io';
const HUB_URL = 'https://registry-1.docker.io';
const CALL_TIMEOUT_MS = 30_000;
/** An index has a few KB. */
const MAX_MANIFEST_OCTETS = 4 * 1024 * 1024;
/** Indexes before single manifests: the digest must be valid for every architecture of the tag. */
const ACCEPTED = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];

/** Requests the current digest of a tag. Public images only: it has no credentials. */
export class Registry {
  #hubUrl;
  #tokens = new Map();

  /** @param {{ hubUrl?: string }} options hubUrl: a mirror of Docker Hub */
  constructor({ hubUrl = HUB_URL } = {}) {
    this.#hubUrl = hubUrl.replace(/\/+$/, '');
  }

  /**
   * The current digest of a tag. It is computed from the manifest; the digest in the response header is only compared.
   *
   * @param {{ registry: string, repository: string, tag: string }} reference
   * @returns {Promise<string>} `sha256:…`
   */
  async digestOf({ registry, repository, tag }) {
    const base = registry === HUB ? this.#hubUrl : `https://${registry}`;
    const url = `${base}/v2/${repository}/manifests/${encodeURIComponent(tag)}`;
    const response = await this.#get(url, repository);
    const manifest = await bodyOf(response, url);
    if (!response.ok) throw new Error(`${url} answered ${response.status}: ${errorIn(manifest)}`);
    const type = response.headers.get('content-type')?.split(';', 1)[0] ?? '';
    if (!ACCEPTED.includes(type)) throw new Error(`${url} answered with ${type || 'no type'}, which is no manifest`);
    const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`;
    const said = response.headers.get('docker-content-digest');
    if (said !== null && said !== digest) throw new Error(`${url} says ${said}, but its manifest is ${digest}`);
    return digest;
  }

  /** Sends a GET request; repeats it with a token if the registry requires one. */
  async #get(url, repository) {
    const { origin } = new URL(url);
    const key = `${origin} ${repository}`;
    const first = await call(url, this.#tokens.get(key));
    if (first.status !== 401) return first;
    await first.body?.cancel();
    const token = await tokenFor(first.headers.get('www-authenticate') ?? '', repository);
    this.#tokens.set(key, token);
    return call(url, token);
  }
}

const call = (url, token) =>
  fetch(url, {
    headers: { accept: ACCEPTED.join(', '), ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  }).catch((error) => {
    throw new Error(`${url} cannot be reached: ${error.cause?.message ?? error.message}`, { cause: error });
  });

/** Requests an anonymous pull token from the address in the challenge (RFC 6750, 3). */
async function tokenFor(challenge, repository) {
  const [, parameters = ''] = /^Bearer\s+(.*)$/i.exec(challenge) ?? [];
  const said = new Map([...parameters.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
  const realm = said.get('realm');
  if (realm === undefined) throw new Error(`the registry asks for authentication that is not known: ${challenge}`);
  const url = new URL(realm);
  if (said.has('service')) url.searchParams.set('service', said.get('service'));
  url.searchParams.set('scope', said.get('scope') ?? `repository:${repository}:pull`);
  const response = await call(url.href);
  const body = await bodyOf(response, url.href);
  if (!response.ok) throw new Error(`${url.origin} gave no token (${response.status}): ${errorIn(body)}`);
  const { token, access_token: accessToken } = JSON.parse(body.toString('utf8'));
  return token ?? accessToken;
}

async function bodyOf(response, url) {
  const chunks = [];
  let octets = 0;
  for await (const chunk of response.body ?? []) {
    octets += chunk.length;
    if (octets > MAX_MANIFEST_OCTETS) throw new Error(`${url} answered with more than ${MAX_MANIFEST_OCTETS} octets`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The first error of a body in the specification's form, or the beginning of the body. */
function errorIn(body) {
  const text = body.toString('utf8');
  try {
    const [{ code, message }] = JSON.parse(text).errors;
    return `${code}: ${message}`;
  } catch {
    return text.slice(0, 200);
  }
}
