import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/stack.js';

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const readJson = (file: string): unknown => JSON.parse(read(file));

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
}

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

const lock = readJson('package-lock.json') as { readonly packages: Readonly<Record<string, Locked>> };
const manifest = readJson('package.json') as Manifest;
/** All packages but the project itself. */
const packages = Object.entries(lock.packages).filter(([name]) => name !== '');

const REGISTRY = 'https://registry.npmjs.org/';

/** Files that install, build or start something, each with its commands. */
const COMMANDS = ['.ci/run', 'config/docker/Dockerfile', 'config/stack/prepare.mjs'];

describe('A32 a dependency that turned against its users', () => {
  it('A32 the contents of every package are fixed by a SHA-512, and no package comes from elsewhere than the registry', () => {
    expect(packages.length).toBeGreaterThan(100);
    const wrong = packages.filter(
      ([, { resolved = REGISTRY, integrity = '', link = false }]) =>
        link || !resolved.startsWith(REGISTRY) || !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity),
    );
    expect(wrong.map(([name]) => name)).toEqual([]);
    const elsewhere = /^(?:git|https?|file|link):|\//;
    const { dependencies, devDependencies, optionalDependencies } = manifest;
    const asked = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
    expect(asked.filter(([, version]) => elsewhere.test(version.replace(/^npm:(?:@[\w-]+\/)?/, '')))).toEqual([]);
  });

  it('A32 the project asks for exact versions alone', () => {
    const { dependencies, devDependencies, optionalDependencies, overrides } = manifest;
    const direct: Readonly<Record<string, string>> = { ...dependencies, ...devDependencies, ...optionalDependencies };
    // An override for the dependencies of one package may name the version of a direct dependency as `$name`.
    const overridden = Object.entries(overrides).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as const] : Object.entries(value),
    );
    const asked = [...Object.entries(direct), ...overridden].map(
      ([name, version]) => [name, version.startsWith('$') ? direct[version.slice(1)] : version] as const,
    );
    const loose = asked.filter(([, version = '']) => !/^(?:npm:[\w@/-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version));
    expect(loose).toEqual([]);
  });

  it('A32 no install script runs: neither of a package, nor of the project', () => {
    expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
    const own = Object.keys(manifest.scripts).filter((name) => /^(?:pre|post)?(?:install|prepare|publish)/.test(name));
    expect(own).toEqual([]);
    for (const file of COMMANDS) {
      const text = read(file);
      expect(text, file).not.toMatch(/npm (?:i|install|update)\b|--ignore-scripts=false|npm rebuild/);
    }
    expect(read('config/docker/Dockerfile')).toMatch(/COPY .*package-lock\.json.*\.npmrc/);
    expect(read('config/stack/prepare.mjs')).toContain("'ci'");
  });

  it('A32 the installed packages are those of the lock file, version for version and digest for digest', () => {
    const installed = readJson('node_modules/.package-lock.json') as typeof lock;
    const odd = Object.entries(installed.packages).filter(([name, { version, integrity }]) => {
      const locked = lock.packages[name];
      return locked?.version !== version || locked?.integrity !== integrity;
    });
    expect(odd.map(([name]) => name)).toEqual([]);
  });

  it('A32 no source fetches or evaluates code while it runs', () => {
    const found = ['apps', 'libs'].flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !file.endsWith('.d.ts'))
        .flatMap((file) =>
          read(path.join(folder, file))
            .split('\n')
            .filter((line) => /\beval\(|new Function\(|\bvm\.run|\bchild_process\b|import\(\s*[^'")\s]/.test(line))
            .map((line) => `${folder}/${file}: ${line.trim()}`),
        ),
    );
    expect(found).toEqual([]);
  });
});

interface Service {
  readonly image: string;
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly privileged?: boolean;
  readonly network_mode?: string;
  readonly pid?: string;
  readonly pids_limit?: number;
  readonly mem_limit?: string;
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
}

const compose = load(read('docker-compose.yml'), { schema: CORE_SCHEMA.withTags(mergeTag) }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
};

describe('A33 breaking out of a container', () => {
  it.each(Object.entries(compose.services))(
    'A33 %s runs as no root, on a read-only disk, without a capability or a way to get one, in bounded memory',
    (_name, service) => {
      expect(service.user).toMatch(/^(?!root|0\b)\w+/);
      expect([service.read_only, service.cap_drop]).toEqual([true, ['ALL']]);
      expect(service.cap_add).toBeUndefined();
      expect(service.security_opt).toContain('no-new-privileges:true');
      expect([service.privileged, service.network_mode, service.pid]).toEqual([undefined, undefined, undefined]);
      expect(service.pids_limit).toBeGreaterThan(0);
      expect(service.mem_limit).toMatch(/^\d+[mg]$/);
      for (const volume of service.volumes ?? []) expect(volume).not.toMatch(/docker\.sock|^\/(?:proc|sys|etc|root)?:/);
    },
  );

  it('A33 the stores have no port outside and no way out, and share no network with the proxy', () => {
    const { postgres, redis, proxy } = compose.services;
    for (const store of [postgres, redis]) {
      expect(store?.ports).toBeUndefined();
      expect(store?.networks).toEqual(['stores']);
    }
    expect(compose.networks['stores']).toMatchObject({ internal: true });
    expect(proxy?.networks).not.toContain('stores');
  });

  it('A33 the image is run by a user of its own that owns no file of it', () => {
    const file = read('config/docker/Dockerfile');
    const runtime = file.slice(file.indexOf('AS runtime'));
    expect(runtime).toMatch(/^USER 10001:10001$/m);
    expect(runtime).not.toMatch(/--chown|chmod|USER root/);
    expect(runtime.indexOf('USER 10001')).toBeGreaterThan(runtime.lastIndexOf('COPY --from'));
  });
});
