import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { imagesOfCompose, imagesOfDockerfile } from './image-references.mjs';
import { pinImages, unpinnedImages, writeSbom } from './prepare-release.mjs';
import { Registry } from './registry.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILES = ['docker-compose.yml', 'config/docker/Dockerfile'];
const INDEX = 'application/vnd.oci.image.index.v1+json';

/**
 * A registry as in the distribution specification: a pull needs a token, which is given to anybody, for one repository.
 */
let server: Server;
let url: string;
/** The manifests of `repository:tag`; tests change them. */
const manifests = new Map<string, { readonly type: string; readonly body: string; readonly said?: string }>();
const asked: string[] = [];

const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const indexOf = (name: string): string =>
  JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests: [{ digest: sha256(name) }] });

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', url);
  asked.push(`${request.method ?? ''} ${pathname}`);
  if (pathname === '/token') {
    response.end(JSON.stringify({ token: `${searchParams.get('service') ?? ''} ${searchParams.get('scope') ?? ''}` }));
    return;
  }
  const [, repository = '', tag = ''] = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(pathname) ?? [];
  const scope = `repository:${repository}:pull`;
  if (request.headers.authorization !== `Bearer local ${scope}`) {
    const challenge = `Bearer realm="${url}/token",service="local",scope="${scope}"`;
    response.writeHead(401, { 'www-authenticate': challenge }).end('{"errors":[{"code":"UNAUTHORIZED"}]}');
    return;
  }
  const manifest = manifests.get(`${repository}:${tag}`);
  if (manifest === undefined) {
    response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}');
    return;
  }
  if (request.headers.accept?.includes(manifest.type) !== true) {
    response.writeHead(406).end();
    return;
  }
  const { type, body, said = sha256(body) } = manifest;
  response.writeHead(200, { 'content-type': type, 'docker-content-digest': said }).end(body);
}

beforeAll(async () => {
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-release-'));
  for (const file of [...FILES, 'package.json', 'package-lock.json']) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    cpSync(path.join(ROOT, file), path.join(folder, file));
  }
  asked.length = 0;
  manifests.clear();
  for (const image of images()) {
    const [name = '', tag = ''] = image.split('@')[0]?.split(':') ?? [];
    manifests.set(`library/${name}:${tag}`, { type: INDEX, body: indexOf(image) });
  }
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const textOf = (file: string): string => readFileSync(path.join(folder, file), 'utf8');
const images = (): string[] => [
  ...imagesOfCompose(textOf('docker-compose.yml')),
  ...imagesOfDockerfile(textOf('config/docker/Dockerfile')),
];
const pin = (): Promise<unknown> => pinImages({ root: folder, registry: new Registry({ hubUrl: `${url}/` }) });
const withoutDigests = (text: string): string => text.replaceAll(/@sha256:[0-9a-f]{64}/g, '');

describe('a release', () => {
  it('names every image by the digest of its tag, and changes nothing else', async () => {
    const before = images();
    const texts = FILES.map(textOf);
    await pin();
    const expected = before.map((image) => `${withoutDigests(image)}@${sha256(indexOf(image))}`);
    expect(images()).toEqual(expected);
    expect(await unpinnedImages({ root: folder })).toEqual([]);
    expect(FILES.map(textOf).map(withoutDigests)).toEqual(texts.map(withoutDigests));
  });

  it('moves a digest on when its tag has moved', async () => {
    await pin();
    const [first = ''] = images();
    const [tagged = ''] = first.split('@');
    const [name = '', tag = ''] = tagged.split(':');
    const moved = indexOf('moved');
    manifests.set(`library/${name}:${tag}`, { type: INDEX, body: moved });
    await pin();
    expect(images()[0]).toBe(`${tagged}@${sha256(moved)}`);
  });

  it('requests a token once for each repository', async () => {
    const registry = new Registry({ hubUrl: url });
    const reference = { registry: 'docker.io', repository: 'library/redis', tag: 'x' };
    manifests.set('library/redis:x', { type: INDEX, body: indexOf('x') });
    await registry.digestOf(reference);
    await registry.digestOf(reference);
    const manifest = 'GET /v2/library/redis/manifests/x';
    expect(asked).toEqual([manifest, 'GET /token', manifest, manifest]);
  });

  it.each([
    ['a tag that is not there', null, 'MANIFEST_UNKNOWN: manifest unknown'],
    [
      'a manifest that is not what its header says',
      { type: INDEX, body: '{}', said: sha256('x') },
      'but its manifest is',
    ],
    ['a type that is no manifest', { type: 'text/html', body: '<p>' }, '406'],
  ])('writes nothing for %s', async (_what, manifest, message) => {
    const texts = FILES.map(textOf);
    const last = images().at(-1)?.split('@')[0] ?? '';
    if (manifest === null) manifests.delete(`library/${last}`);
    else manifests.set(`library/${last}`, manifest);
    await expect(pin()).rejects.toThrow(message);
    expect(FILES.map(textOf)).toEqual(texts);
  });

  it('says which registry cannot be reached', async () => {
    const registry = new Registry({ hubUrl: 'http://127.0.0.1:1' });
    await expect(registry.digestOf({ registry: 'docker.io', repository: 'library/x', tag: 'y' })).rejects.toThrow(
      /^http:\/\/127\.0\.0\.1:1\/v2\/library\/x\/manifests\/y cannot be reached: /,
    );
  });

  it('lists every package of the product with its digest, and none that only builds or tests it', async () => {
    const file = path.join(folder, 'dist/release/sbom.cdx.json');
    const listed = await writeSbom({ root: folder, file });
    const bom = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly bomFormat: string;
      readonly metadata: { readonly component: { readonly name: string } };
      readonly components: readonly {
        readonly name: string;
        readonly version: string;
        readonly hashes?: readonly { readonly alg: string }[];
      }[];
    };
    expect([bom.bomFormat, bom.metadata.component.name, bom.components.length]).toEqual([
      'CycloneDX',
      'countersign',
      listed,
    ]);
    const names = bom.components.map(({ name }) => name);
    const { dependencies, devDependencies } = JSON.parse(textOf('package.json')) as Record<
      string,
      Record<string, string>
    >;
    expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies ?? {})));
    // Every dependency of a listed package is listed.
    const { packages } = JSON.parse(textOf('package-lock.json')) as {
      readonly packages: Readonly<Record<string, { readonly version?: string; readonly dependencies?: object }>>;
    };
    for (const { name, version } of bom.components) {
      const [, locked] =
        Object.entries(packages).find(
          ([folder, each]) => folder.endsWith(`node_modules/${name}`) && each.version === version,
        ) ?? [];
      expect(names, name).toEqual(expect.arrayContaining(Object.keys(locked?.dependencies ?? {})));
    }
    for (const tool of ['vitest', 'typescript', 'eslint', 'playwright-core', 'smpp']) {
      expect(Object.keys(devDependencies ?? {})).toContain(tool);
      expect(names).not.toContain(tool);
    }
    for (const { name, hashes } of bom.components)
      expect(
        hashes?.map(({ alg }) => alg),
        name,
      ).toEqual(['SHA-512']);
  });
});
