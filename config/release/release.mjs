#!/usr/bin/env node
// `npm run release:prepare` runs before a release is tagged; `npm run release:prepare -- --check` checks afterwards.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { printable } from '../stack/printable.mjs';
import { pinImages, unpinnedImages, writeSbom } from './prepare-release.mjs';
import { Registry } from './registry.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const USAGE = `node config/release/release.mjs [--check] [--registry <url>] [--sbom <file>]
  --check     only says whether every image is named by its digest
  --registry  a mirror of Docker Hub, for images without a registry of their own
  --sbom      where the bill of materials goes; dist/release/sbom.cdx.json`;

async function run({ check, registry, sbom }) {
  if (check) {
    const unpinned = await unpinnedImages({ root: ROOT });
    for (const { file, image } of unpinned) console.error(printable(`${file}: ${image} is named by a tag alone`));
    return unpinned.length === 0;
  }
  for (const { file, image } of await pinImages({ root: ROOT, registry: new Registry({ hubUrl: registry }) })) {
    console.log(printable(`${file}: ${image}`));
  }
  const packages = await writeSbom({ root: ROOT, file: path.resolve(sbom) });
  console.log(printable(`${sbom}: ${packages} packages`));
  return true;
}

try {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean', default: false },
      registry: { type: 'string' },
      sbom: { type: 'string', default: path.join(ROOT, 'dist/release/sbom.cdx.json') },
    },
  });
  process.exitCode = (await run(values)) ? 0 : 1;
} catch (error) {
  console.error(printable(error.code?.startsWith('ERR_PARSE_ARGS') ? `${error.message}\n${USAGE}` : error.message));
  process.exitCode = 1;
}
