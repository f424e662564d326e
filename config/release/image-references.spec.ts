import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { imagesOfCompose, imagesOfDockerfile, parseReference, replaceReferences } from './image-references.mjs';

const DIGEST = `sha256:${'ab'.repeat(32)}`;
const fileOf = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

describe('an image reference', () => {
  it.each([
    ['redis', 'docker.io', 'library/redis', 'latest', null],
    ['redis:7.2-bookworm', 'docker.io', 'library/redis', '7.2-bookworm', null],
    ['grafana/grafana:12', 'docker.io', 'grafana/grafana', '12', null],
    ['ghcr.io/owner/name:v1', 'ghcr.io', 'owner/name', 'v1', null],
    ['localhost:5000/name', 'localhost:5000', 'name', 'latest', null],
    ['localhost/name:1', 'localhost', 'name', '1', null],
    [`redis:7.2@${DIGEST}`, 'docker.io', 'library/redis', '7.2', DIGEST],
    [`registry.example.com:5000/a/b/c:1.0@${DIGEST}`, 'registry.example.com:5000', 'a/b/c', '1.0', DIGEST],
  ])('%s is read as docker reads it', (text, registry, repository, tag, digest) => {
    const [tagged] = text.split('@');
    expect(parseReference(text)).toEqual({ registry, repository, tag, digest, tagged });
  });

  it.each(['', 'Redis', 'redis:', 'redis@sha256:ab', 'redis 7', '${IMAGE}', 'redis:7@md5:00'])('is not %j', (text) => {
    expect(() => parseReference(text)).toThrow('is no image reference');
  });
});

describe('the production files', () => {
  it('name the images that they pull, and not those that are built from here', () => {
    const nameOf = (image: string): string => image.replace(/:.*/, '');
    expect(imagesOfCompose(fileOf('../../docker-compose.yml')).map(nameOf)).toEqual(['haproxy', 'postgres', 'redis']);
    expect(imagesOfDockerfile(fileOf('../docker/Dockerfile')).map(nameOf)).toEqual(['node']);
  });

  it('may name a base by itself, or by an argument with a default', () => {
    const text = 'ARG A=node:24\nFROM ${A} AS one\nFROM alpine:3 AS two\nFROM one\nFROM ${A}\n';
    expect(imagesOfDockerfile(text)).toEqual(['node:24', 'alpine:3']);
    expect(() => imagesOfDockerfile('ARG A\nFROM ${A}\n')).toThrow('no default');
  });
});

describe('a reference that is replaced', () => {
  it('is replaced where an image is named, as a whole, and nowhere else', () => {
    const text = [
      '# redis:7 is what we run',
      'ARG IMAGE=redis:7',
      'FROM redis:7 AS x',
      '    image: redis:7',
      "    image: 'redis:7'",
      '    image: redis:7.2',
      '    image: myredis:7',
      '    command: redis:7',
    ].join('\n');
    const lines = replaceReferences(text, new Map([['redis:7', 'redis:7@new$&']])).split('\n');
    expect(lines).toEqual([
      '# redis:7 is what we run',
      'ARG IMAGE=redis:7@new$&',
      'FROM redis:7@new$& AS x',
      '    image: redis:7@new$&',
      "    image: 'redis:7@new$&'",
      '    image: redis:7.2',
      '    image: myredis:7',
      '    command: redis:7',
    ]);
  });
});
