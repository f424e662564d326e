// Prints the figures of the code's structure: sizes, exports, dependencies of constructors, lines of wiring. Fails when an index
// exports too many names or a constructor takes too many dependencies.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import ts from 'typescript';

const MAX_EXPORTS = 30;
const MAX_DEPENDENCIES = 5;
/** Constructors that may take more, and why. */
const WIDE_CONSTRUCTORS = new Map([
  [
    'CountersignClient (libs/sdk/src/client.ts)',
    'its options are public API: each is one name for the users of the package',
  ],
]);

const files = execFileSync('git', ['ls-files', 'apps', 'libs'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.tsx?$/.test(file) && !/\.(spec|fixture|d)\.ts$|\/test\//.test(file));
const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
/** @param {string} file */
const linesOf = (file) => (texts.get(file) ?? '').split('\n').length - 1;

/** @param {readonly number[]} values @param {number} share */
const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;

/** Modules, providers, and the composition roots of both daemons. @param {string} file */
const isWiring = (file) =>
  /^apps\/(control-plane|gateway)\//.test(file) &&
  (/\.(module|providers)\.ts$/.test(file) || ['control-plane.ts', 'gateway.ts'].includes(basename(file)));

/** @type {{ readonly name: string, readonly lines: number }[]} */
const functions = [];
/** @type {{ readonly name: string, readonly count: number }[]} */
const constructors = [];
/** @type {{ readonly file: string, readonly count: number }[]} */
const indexes = [];

const sources = new Map(
  [...texts].map(([file, text]) => [file, ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)]),
);

/** @param {import('typescript').SourceFile} source */
const interfacesIn = (source) => source.statements.filter((statement) => ts.isInterfaceDeclaration(statement));
/**
 * The interfaces of all files by name, for members that an interface inherits.
 * @type {Map<string, import('typescript').InterfaceDeclaration>}
 */
const interfaces = new Map(
  [...sources.values()].flatMap((source) => interfacesIn(source).map((each) => [each.name.text, each])),
);
/** @param {import('typescript').InterfaceDeclaration} declaration @returns {number} */
const membersOf = ({ members, heritageClauses = [] }) =>
  heritageClauses
    .flatMap(({ types }) => types.map(({ expression }) => interfaces.get(expression.getText())))
    .reduce((sum, inherited) => sum + (inherited === undefined ? 0 : membersOf(inherited)), members.length);
/** The interfaces of a file, by name, with the number of their members. @param {import('typescript').SourceFile} source */
const membersIn = (source) => new Map(interfacesIn(source).map((each) => [each.name.text, membersOf(each)]));
/**
 * The options objects of all files: an interface of this name counts wherever it is imported. Other interfaces may be data.
 * @type {Map<string, number>}
 */
const optionsObjects = new Map(
  [...sources.values()].flatMap((source) =>
    [...membersIn(source)].filter(([name]) => /(Options|Parts|Dependencies|Context|Services)$/.test(name)),
  ),
);

for (const [file, source] of sources) {
  const members = membersIn(source);
  /** Members of an options object count as dependencies. @param {import('typescript').ParameterDeclaration} parameter */
  const weightOf = ({ type }) => {
    const name = type !== undefined && ts.isTypeReferenceNode(type) ? type.typeName.getText(source) : '';
    return members.get(name) ?? optionsObjects.get(name) ?? 1;
  };
  /** @param {import('typescript').Node} node */
  const visit = (node) => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
      const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
      functions.push({ name: `${file}:${first + 1}`, lines: last - first + 1 });
    }
    if (ts.isConstructorDeclaration(node)) {
      const name = ts.isClassDeclaration(node.parent) ? (node.parent.name?.text ?? '') : '';
      constructors.push({
        name: `${name} (${file})`,
        count: node.parameters.reduce((sum, each) => sum + weightOf(each), 0),
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  if (basename(file) === 'index.ts') {
    const count = source.statements.reduce(
      (sum, statement) =>
        sum +
        (ts.isExportDeclaration(statement) &&
        statement.exportClause !== undefined &&
        ts.isNamedExports(statement.exportClause)
          ? statement.exportClause.elements.length
          : 0),
      0,
    );
    indexes.push({ file, count });
  }
}

/** @param {string} name */
const reasonOf = (name) => (WIDE_CONSTRUCTORS.has(name) ? `: ${WIDE_CONSTRUCTORS.get(name) ?? ''}` : '');
const lengths = functions.map(({ lines }) => lines);
const wide = constructors.filter(({ count }) => count > MAX_DEPENDENCIES).sort((a, b) => b.count - a.count);
const wiring = files.filter(isWiring).reduce((sum, file) => sum + linesOf(file), 0);
const largest = indexes.filter(({ file }) => !file.startsWith('libs/sdk/')).sort((a, b) => b.count - a.count)[0];
console.log(`product files ${files.length}, lines ${files.reduce((sum, file) => sum + linesOf(file), 0)}`);
console.log(
  `functions ${lengths.length}: median ${quantile(lengths, 0.5)} lines, 90th percentile ${quantile(lengths, 0.9)}, longest ${Math.max(...lengths)}`,
);
console.log(
  `constructor dependencies: largest ${Math.max(...constructors.map(({ count }) => count))}, ${wide.length} of ${constructors.length} constructors take more than ${MAX_DEPENDENCIES}`,
);
for (const { name, count } of wide) console.log(`  ${count} ${name}${reasonOf(name)}`);
console.log(`wiring lines ${wiring}`);
console.log(`exports of an index: largest ${largest?.count ?? 0} (${largest?.file ?? ''})`);
// The index of the SDK is its public API.
const over = indexes.filter(({ file, count }) => count > MAX_EXPORTS && !file.startsWith('libs/sdk/'));
for (const { file, count } of over) console.log(`${file} exports ${count} names; ${MAX_EXPORTS} are allowed`);
const tooWide = wide.filter(({ name }) => !WIDE_CONSTRUCTORS.has(name));
for (const { name, count } of tooWide)
  console.log(`${name} takes ${count} dependencies; ${MAX_DEPENDENCIES} are allowed`);
const unused = [...WIDE_CONSTRUCTORS.keys()].filter((listed) => !wide.some(({ name }) => name === listed));
for (const name of unused) console.log(`${name} is listed as an exception and needs none`);
process.exitCode = over.length + tooWide.length + unused.length === 0 ? 0 : 1;
