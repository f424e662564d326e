import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const textOf = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
}
const { packages } = JSON.parse(textOf('package-lock.json')) as { packages: Readonly<Record<string, LockedPackage>> };
const locked = Object.entries(packages).filter(([folder]) => folder !== '');
/** An override may be one for the dependencies of one package, and name the version of a direct dependency as `$name`. */
type Named = Readonly<Record<string, string | Readonly<Record<string, string>>>>;
const manifest = JSON.parse(textOf('package.json')) as Readonly<Record<string, Named>>;

const direct = (name: string): unknown => manifest['dependencies']?.[name] ?? manifest['devDependencies']?.[name];

/** Packages with the version that a part of package.json names for each. */
function namedIn(kind: string): [string, string][] {
  const named = Object.entries(manifest[kind] ?? {});
  const flat = named.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : Object.entries(value)));
  return flat.map(([name = '', version = '']) => [
    name,
    version.startsWith('$') ? String(direct(version.slice(1))) : version,
  ]);
}

/** A version and nothing else, also behind an alias (`npm:smpp@0.6.0-rc.4`). */
const EXACT = /^(?:npm:[^@]+@)?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;

describe('the packages that are installed', () => {
  it('are those of the registry, each with its SHA-512', () => {
    expect(locked.length).toBeGreaterThan(300);
    const strange = locked.filter(([, { integrity = '', resolved, link, inBundle }]) => {
      const fromElsewhere = resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/');
      return fromElsewhere || link === true || inBundle === true || !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity);
    });
    expect(strange).toEqual([]);
  });

  it.each(['dependencies', 'devDependencies', 'optionalDependencies', 'overrides'])(
    'are named in %s by one version, which is the locked one',
    (kind) => {
      const named = namedIn(kind);
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter(([, version]) => !EXACT.test(version))).toEqual([]);
      const versionOf = (text: string): string => text.replace(/^npm:[^@]+@/, '');
      const other = named.filter(([name, text]) => packages[`node_modules/${name}`]?.version !== versionOf(text));
      expect(other).toEqual([]);
    },
  );

  it('run no scripts of their own when they are installed', () => {
    expect(textOf('.npmrc')).toMatch(/^ignore-scripts=true$/m);
  });
});
