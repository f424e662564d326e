// Fails when an identifier or the opening of a comment uses a word of banned-words.mjs.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { BANNED_OPENINGS, BANNED_PARTS, EXEMPT } from './banned-words.mjs';

/** @typedef {{ readonly file: string, readonly line: number, readonly found: string, readonly instead: string }} Finding */

const SOURCES = ['apps', 'libs', 'config', 'test'];
/** This check, and migrations: one that has run is never edited. */
const SKIPPED = /config\/tooling\/(banned|check)-words\.mjs$|\/migrations\/|apps\/console\/src\/api\/schema\.d\.ts$/;
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

/** The first words of a comment, without its marks. @param {string} comment */
const openingOf = (comment) =>
  comment
    .replace(/^\/\*+|^\/\/+/, '')
    .replace(/^[\s*]+/, '')
    .slice(0, 200);

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
      // A line that continues the comment above it is no opening.
      if (
        /^\s*\/\/[^\n]*\n[ \t]*$/.test(
          text.slice(text.lastIndexOf('\n', text.lastIndexOf('\n', range.pos - 1) - 1) + 1, range.pos),
        )
      )
        continue;
      const opening = openingOf(text.slice(range.pos, range.end));
      for (const { pattern, instead } of BANNED_OPENINGS) {
        if (pattern.test(opening)) add(range.pos, `"${opening.slice(0, 60).split('\n')[0]}"`, instead);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return findings;
}

const files = execFileSync('git', ['ls-files', ...SOURCES], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|tsx|mts|mjs|cjs)$/.test(file) && !SKIPPED.test(file));
const byText = files.flatMap(findingsIn).map((each) => [`${each.file}:${each.line}:${each.found}`, each]);
const findings = [...new Map(byText).values()];
for (const { file, line, found, instead } of findings.slice(0, MAX_SHOWN)) {
  console.log(`${file}:${line}: ${found} (instead: ${instead})`);
}
if (findings.length > MAX_SHOWN) console.log(`… and ${findings.length - MAX_SHOWN} more`);
console.log(`words: ${findings.length} found in ${files.length} files`);
process.exitCode = findings.length === 0 ? 0 : 1;
