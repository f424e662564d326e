import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const DOCUMENTS = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'];
/** Folders that the documents leave out where a sentence says which app it is about. */
const ROOTS = ['', 'apps/control-plane/src', 'apps/gateway/src'];
const FILE = /`([\w.-]+(?:\/[\w.-]+)+\.(?:ts|mjs|cjs|sql|sh|cfg|md|yml|json))`/g;
const LINK = /\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g;

const textOf = (document: string): string => readFileSync(document, 'utf8');
const glossaryOf = (document: string): string[] => {
  const [, section = ''] = textOf(document).split(/^#+ Glossary$/m);
  return section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| term'));
};

describe('the documents', () => {
  it.each(DOCUMENTS)('%s names files that are there', (document) => {
    const named = [...textOf(document).matchAll(FILE)].map(([, path = '']) => path);
    const missing = named.filter((path) => !ROOTS.some((root) => existsSync(join(root, path))));
    expect(missing.filter((path) => !path.startsWith('.data/'))).toEqual([]);
  });

  it.each([...DOCUMENTS, 'CHANGELOG.md'])('%s links to files that are there', (document) => {
    const linked = [...textOf(document).matchAll(LINK)].map(([, path = '']) => path);
    expect(linked.filter((path) => !existsSync(join(dirname(document), path)))).toEqual([]);
  });

  it('explain each term in the same words', () => {
    const published = glossaryOf('apps/control-plane/src/docs/pages/glossary.md');
    expect(published.length).toBeGreaterThan(20);
    expect(glossaryOf('ARCHITECTURE.md')).toEqual(published);
  });
});
