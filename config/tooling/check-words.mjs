// Fails when an identifier, a sentence of a comment, or a document uses a word or an opening of banned-words.mjs.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { BANNED_OPENINGS, BANNED_PARTS, EXEMPT } from './banned-words.mjs';

/** @typedef {{ readonly file: string, readonly line: number, readonly found: string, readonly instead: string }} Finding */

const SOURCES = ['apps', 'libs', 'config', 'test'];
/** This check, migrations (one that has run is never edited), and the names of earlier releases. */
const SKIPPED =
  /config\/tooling\/(banned|check)-words\.mjs$|\/migrations\/|apps\/console\/src\/api\/schema\.d\.ts$|^CHANGELOG\.md$/;
const MAX_SHOWN = Number(process.env['WORDS_SHOWN'] ?? 100);

/** @param {string} name */
const partsOf = (name) =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);

/** @param {string} file @param {string} part */
const isExempt = (file, part) => EXEMPT.some((exempt) => exempt.file.test(file) && exempt.parts.includes(part));

/** A comment without its marks. @param {string} comment */
const proseOf = (comment) =>
  comment
    .replace(/^\/\*+|^\/\/+/, '')
    .replaceAll(/\n\s*\* ?/g, '\n')
    .replace(/^[\s*]+/, '');

/** The sentences of a prose, each at its place. @param {string} prose */
const sentencesOf = (prose) =>
  [...prose.matchAll(/(?:^|[.:;]\s+|\n\s*\n|\n\s*[-*] )(?=\S)/g)].map(({ index, 0: before }) => ({
    at: index + before.length,
    text: prose.slice(index + before.length, index + before.length + 200),
  }));

/** @param {string} file @returns {Finding[]} */
function findingsIn(file) {
  const text = readFileSync(file, 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  /** @type {Finding[]} */
  const findings = [];
  /** @param {number} at @param {string} found @param {string} instead */
  const add = (at, found, instead) => {
    findings.push({ file, line: source.getLineAndCharacterOfPosition(at).line + 1, found, instead });
  };
  const seen = new Set();
  /** @param {import('typescript').Node} node */
  const visit = (node) => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      for (const part of partsOf(node.text)) {
        const instead = Object.hasOwn(BANNED_PARTS, part) ? BANNED_PARTS[part] : undefined;
        if (instead !== undefined && !isExempt(file, part)) add(node.getStart(source), node.text, instead);
      }
    }
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) {
      if (seen.has(range.pos)) continue;
      seen.add(range.pos);
      // A line that continues the comment above it begins no sentence.
      if (
        /^\s*\/\/[^\n]*\n[ \t]*$/.test(
          text.slice(text.lastIndexOf('\n', text.lastIndexOf('\n', range.pos - 1) - 1) + 1, range.pos),
        )
      )
        continue;
      for (const sentence of sentencesOf(proseOf(text.slice(range.pos, range.end)))) {
        for (const { pattern, instead } of BANNED_OPENINGS) {
          if (pattern.test(sentence.text)) add(range.pos, `"${sentence.text.slice(0, 60).split('\n')[0]}"`, instead);
        }
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return findings;
}

/**
 * The prose of a document: no code, no links, no headings, and of tables only the sentences after the first of a cell. Every
 * character left out is a space, so that places stay the same.
 *
 * @param {string} text
 */
const documentProse = (text) =>
  text
    .replaceAll(/^(```|~~~)[^]*?^\1.*$|`[^`\n]*`|\]\([^)]*\)|^#.*$/gm, (code) => code.replaceAll(/[^\n]/g, ' '))
    .replaceAll(/^\|.*$/gm, (row) => row.replaceAll('|', ','));

/** Words in documents: those of identifiers, and the openings of sentences. @param {string} file @returns {Finding[]} */
function findingsInDocument(file) {
  const prose = documentProse(readFileSync(file, 'utf8'));
  /** @param {number} at */
  const lineOf = (at) => prose.slice(0, at).split('\n').length;
  const words = [...prose.matchAll(/[a-z]+/gi)].flatMap(({ 0: found, index }) => {
    const part = found.toLowerCase();
    const instead = Object.hasOwn(BANNED_PARTS, part) ? BANNED_PARTS[part] : undefined;
    return instead === undefined ? [] : [{ file, line: lineOf(index), found, instead }];
  });
  const openings = sentencesOf(prose).flatMap(({ at, text }) =>
    BANNED_OPENINGS.filter(({ pattern }) => pattern.test(text)).map(({ instead }) => {
      return { file, line: lineOf(at), found: `"${text.slice(0, 60).split('\n')[0] ?? ''}"`, instead };
    }),
  );
  return [...words, ...openings];
}

/** @param {readonly string[]} paths */
const listed = (...paths) => execFileSync('git', ['ls-files', ...paths], { encoding: 'utf8' }).split('\n');
const sources = listed(...SOURCES).filter((file) => /\.(ts|tsx|mts|mjs|cjs)$/.test(file) && !SKIPPED.test(file));
const documents = listed().filter((file) => file.endsWith('.md') && !SKIPPED.test(file));
const all = [...sources.flatMap(findingsIn), ...documents.flatMap(findingsInDocument)];
const findings = [...new Map(all.map((each) => [`${each.file}:${each.line}:${each.found}`, each])).values()];
for (const { file, line, found, instead } of findings.slice(0, MAX_SHOWN)) {
  console.log(`${file}:${line}: ${found} (instead: ${instead})`);
}
if (findings.length > MAX_SHOWN) console.log(`… and ${findings.length - MAX_SHOWN} more`);
console.log(`words: ${findings.length} found in ${sources.length + documents.length} files`);
process.exitCode = findings.length === 0 ? 0 : 1;
