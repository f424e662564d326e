// Pins the images of a release by digest and writes the list of all packages of the product.
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { imagesOfCompose, imagesOfDockerfile, parseReference, replaceReferences } from './image-references.mjs';

const FILES = [
  ['docker-compose.yml', imagesOfCompose],
  ['config/docker/Dockerfile', imagesOfDockerfile],
];
const MAX_SBOM_OCTETS = 64 * 1024 * 1024;
/**
 * Without --omit, because --omit also leaves out packages of the product that a tool needs; installedPackages selects
 * instead.
 */
const SBOM = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];

/**
 * Images that the production files name, with their files.
 *
 * @param {string} root of the repository
 * @returns {Promise<{ file: string, text: string, images: string[] }[]>}
 */
async function readFiles(root) {
  return Promise.all(
    FILES.map(async ([file, imagesOf]) => {
      const text = await readFile(path.join(root, file), 'utf8');
      return { file, text, images: imagesOf(text) };
    }),
  );
}

/**
 * Appends to every tag the digest that the registry has for it now, in place: `haproxy:3.2-bookworm@sha256:…`. An
 * existing digest is replaced. Writes nothing unless every digest was found.
 *
 * @param {{ root: string, registry: { digestOf: (reference: object) => Promise<string> } }} options
 * @returns {Promise<{ file: string, image: string }[]>} the images as they are named now
 */
export async function pinImages({ root, registry }) {
  const files = await readFiles(root);
  const pinned = new Map();
  for (const image of new Set(files.flatMap(({ images }) => images))) {
    const reference = parseReference(image);
    pinned.set(image, `${reference.tagged}@${await registry.digestOf(reference)}`);
  }
  for (const { file, text } of files) await writeFile(path.join(root, file), replaceReferences(text, pinned));
  return files.flatMap(({ file, images }) => images.map((image) => ({ file, image: pinned.get(image) })));
}

/**
 * Images of the production files that have a tag but no digest.
 *
 * @param {{ root: string }} options
 * @returns {Promise<{ file: string, image: string }[]>}
 */
export async function unpinnedImages({ root }) {
  const files = await readFiles(root);
  return files.flatMap(({ file, images }) =>
    images.filter((image) => parseReference(image).digest === null).map((image) => ({ file, image })),
  );
}

/**
 * Writes the software bill of materials (CycloneDX 1.5) of the images, from the lock file alone: every package with its
 * version, licence and SHA-512, and the dependencies between them.
 *
 * @param {{ root: string, file: string }} options
 * @returns {Promise<number>} how many packages it lists
 */
export async function writeSbom({ root, file }) {
  const { stdout } = await promisify(execFile)('npm', SBOM, { cwd: root, maxBuffer: MAX_SBOM_OCTETS });
  const bom = JSON.parse(stdout);
  const { name, packages } = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8'));
  const { component } = bom.metadata;
  // npm sets the name of the folder here.
  component.name = name;
  const listed = installedPackages(packages);
  const components = bom.components.filter((each) => listed.has(each['bom-ref']));
  const dependencies = bom.dependencies
    .filter(({ ref }) => ref === component['bom-ref'] || listed.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => listed.has(each)) }));
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify({ ...bom, components, dependencies }, undefined, 2)}\n`);
  return components.length;
}

/** `name@version` of the packages that `npm ci --omit=dev --omit=optional` installs: those in the images. */
function installedPackages(packages) {
  const installed = Object.entries(packages).filter(
    ([folder, { dev, optional, devOptional }]) => folder !== '' && !dev && !optional && !devOptional,
  );
  return new Set(
    installed.map(([folder, { name, version }]) => `${name ?? folder.split('node_modules/').at(-1)}@${version}`),
  );
}
