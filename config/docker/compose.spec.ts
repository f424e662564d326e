import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { Ajv } from 'ajv';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { ControlPlaneSettings, GatewaySettings, loadSettings, SettingsError } from '../../libs/settings/src/index.js';
import { CONTROL_PLANE } from '../../libs/settings/src/environment.fixture.js';

const FILE = fileURLToPath(new URL('../../docker-compose.yml', import.meta.url));

/** A schema of the parts of the compose specification that the file uses; it allows no other names. */
const TEXT = { type: 'string', minLength: 1 };
const TEXTS = { type: 'array', items: TEXT };
const NUMBER = { type: 'integer', minimum: 0 };
const object = (properties: object, required: readonly string[] = []): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const mapOf = (value: object): object => ({ type: 'object', additionalProperties: value });
/** Compose passes on a variable without a value from its own environment. */
const ENVIRONMENT = mapOf({ type: ['string', 'number', 'boolean', 'null'] });
const NETWORK = {
  type: ['object', 'null'],
  properties: { internal: { type: 'boolean' }, ipam: object({ config: { type: 'array', items: mapOf(TEXT) } }) },
  additionalProperties: false,
};
const HEALTHCHECK = object(
  {
    // A list of texts that begins with CMD or CMD-SHELL; an unquoted ": " would make a text a mapping.
    test: { type: 'array', prefixItems: [{ enum: ['CMD', 'CMD-SHELL'] }], items: TEXT, minItems: 2 },
    interval: TEXT,
    timeout: TEXT,
    retries: NUMBER,
    start_period: TEXT,
  },
  ['test'],
);
const SERVICE = object(
  {
    image: TEXT,
    build: object({ context: TEXT, dockerfile: TEXT, target: TEXT }, ['context']),
    command: TEXTS,
    user: TEXT,
    restart: TEXT,
    init: { type: 'boolean' },
    read_only: { type: 'boolean' },
    cap_drop: TEXTS,
    security_opt: TEXTS,
    pids_limit: NUMBER,
    logging: object({ driver: TEXT, options: mapOf(TEXT) }),
    mem_limit: TEXT,
    shm_size: TEXT,
    tmpfs: TEXTS,
    ulimits: mapOf(object({ soft: NUMBER, hard: NUMBER })),
    depends_on: mapOf(
      object({ condition: { enum: ['service_completed_successfully', 'service_healthy', 'service_started'] } }),
    ),
    ports: TEXTS,
    networks: { anyOf: [TEXTS, mapOf(object({ ipv4_address: TEXT }))] },
    environment: ENVIRONMENT,
    volumes: TEXTS,
    secrets: TEXTS,
    healthcheck: HEALTHCHECK,
    stop_grace_period: TEXT,
    stop_signal: TEXT,
  },
  ['image', 'networks'],
);
const COMPOSE = {
  type: 'object',
  properties: {
    name: TEXT,
    services: mapOf(SERVICE),
    networks: mapOf(NETWORK),
    volumes: mapOf(object({})),
    secrets: mapOf(object({ file: TEXT }, ['file'])),
  },
  patternProperties: { '^x-': {} },
  required: ['services'],
  additionalProperties: false,
};

type Variables = Readonly<Record<string, string | undefined>>;

interface Service {
  /** Names, or settings by name. */
  readonly networks: readonly string[] | Readonly<Record<string, { readonly ipv4_address?: string }>>;
  readonly secrets?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly ports?: readonly string[];
  readonly restart?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const read = (text: string): unknown => load(text, { schema: CORE_SCHEMA.withTags(mergeTag) });

function faultsOf(compose: unknown): string[] {
  const validate = new Ajv({ strict: false, allErrors: true }).compile(COMPOSE);
  validate(compose);
  return (validate.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath} ${message}`);
}

describe('docker-compose.yml', () => {
  const text = readFileSync(FILE, 'utf8');
  const compose = read(text) as Compose;

  it('has the shape that compose demands', () => {
    expect(faultsOf(compose)).toEqual([]);
  });

  it('would be refused with a health check whose text is not quoted', () => {
    const unquoted = text.replaceAll(/- "(fetch\(.*)ok \? 0 : 1(.*)"$/gm, '- $1ok ? 0: 1$2');
    expect(unquoted).not.toBe(text);
    expect(faultsOf(read(unquoted))).toEqual([
      '/services/control-plane/healthcheck/test/3 must be string',
      '/services/gateway/healthcheck/test/3 must be string',
    ]);
  });

  it('names only services, networks and secrets that it has', () => {
    const { services, networks, secrets } = compose;
    for (const service of Object.values(services)) {
      const names = Array.isArray(service.networks) ? service.networks : Object.keys(service.networks);
      expect(Object.keys(networks)).toEqual(expect.arrayContaining(names));
      expect(Object.keys(secrets)).toEqual(expect.arrayContaining([...(service.secrets ?? [])]));
      expect(Object.keys(services)).toEqual(expect.arrayContaining(Object.keys(service.depends_on ?? {})));
    }
  });

  it.each([
    ['control-plane', (variables: Variables) => loadSettings(ControlPlaneSettings, variables)],
    ['gateway', (variables: Variables) => loadSettings(GatewaySettings, variables)],
  ])('has stores that %s may reach without TLS, because it names their hosts', (name, boot) => {
    const { DATABASE_URL, REDIS_URL, STORES_WITHOUT_TLS, NODE_ENV } = compose.services[name]?.environment ?? {};
    const urls = Object.fromEntries(
      Object.entries({ DATABASE_URL, REDIS_URL }).map(([key, url]) => [key, url?.replace(/\$\{[^}]*\}/g, 'secret')]),
    );
    const faultsWith = (changes: Variables): string[] => {
      try {
        boot({ ...CONTROL_PLANE, NODE_ENV: NODE_ENV ?? '', ...urls, ...changes });
      } catch (error) {
        return error instanceof SettingsError ? error.faults.map(({ variable }) => variable) : [String(error)];
      }
      return [];
    };
    expect(faultsWith({ STORES_WITHOUT_TLS: STORES_WITHOUT_TLS ?? '' })).toEqual([]);
    expect(faultsWith({})).toEqual(['DATABASE_URL', 'REDIS_URL']);
  });

  it('has health checks that are programs', () => {
    const programs = Object.values(compose.services).flatMap(({ restart, healthcheck }) => {
      // A service that runs once needs none.
      if (restart !== 'no') expect(healthcheck).toBeDefined();
      const test = healthcheck?.test ?? [];
      const at = test.indexOf('--eval');
      return at === -1 ? [] : [test[at + 1] ?? ''];
    });
    expect(programs).toHaveLength(2);
    for (const program of programs) expect(() => new Script(program)).not.toThrow();
  });

  it('gives each container the secrets that it needs, and no others', () => {
    const secretsOf = (name: string): string[] => {
      const environment = Object.entries(compose.services[name]?.environment ?? {});
      return environment.flatMap(([variable, value]) =>
        /PASSWORD|_KEYS?\b/.test(`${variable} ${value ?? ''}`) ? [variable] : [],
      );
    };
    expect(secretsOf('gateway').sort()).toEqual(['COUNTERSIGN_MASTER_KEY', 'DATABASE_URL', 'REDIS_URL']);
    expect(secretsOf('migrate')).toEqual(['DATABASE_MIGRATION_URL']);
    expect(secretsOf('control-plane').sort()).toEqual([
      'COUNTERSIGN_ADMIN_KEY',
      'COUNTERSIGN_ENTROPY_KEYS',
      'COUNTERSIGN_MASTER_KEY',
      'DATABASE_URL',
      'REDIS_URL',
    ]);
    const roles = { gateway: 'countersign_gateway', 'control-plane': 'countersign_app' };
    for (const [daemon, role] of Object.entries(roles)) {
      expect(compose.services[daemon]?.environment?.['DATABASE_URL']).toMatch(new RegExp(`^postgres://${role}:`));
      expect(compose.services[daemon]?.depends_on).toHaveProperty('migrate', {
        condition: 'service_completed_successfully',
      });
    }
    expect(compose.services['migrate']?.environment).toMatchObject({
      DATABASE_URL: expect.stringMatching(/^postgres:\/\/countersign_app@/) as unknown,
      DATABASE_GATEWAY_ROLE: 'countersign_gateway',
    });
  });

  it('publishes ports on IPv4 addresses alone, as long as the networks behind them have no IPv6 subnet', () => {
    const published = Object.values(compose.services).flatMap(({ ports = [], networks }) => {
      const names: readonly string[] = Array.isArray(networks) ? networks : Object.keys(networks);
      return ports.map((port) => ({ port, names }));
    });
    expect(published.map(({ port }) => port)).toEqual([
      '0.0.0.0:443:8443',
      '${SMPP_PLAIN_ADDRESS:-127.0.0.1}:2775:2775',
      '0.0.0.0:3550:3550',
    ]);
    const subnets = published.flatMap(({ names }) => names.map((name) => JSON.stringify(compose.networks[name])));
    for (const subnet of subnets) expect(subnet).not.toContain('::');
  });

  it('gives the proxy and the gateway TLS keys of their own', () => {
    const holdersOf = (secret: string): string[] =>
      Object.entries(compose.services).flatMap(([name, { secrets = [] }]) => (secrets.includes(secret) ? [name] : []));
    expect([holdersOf('tls.key'), holdersOf('smpp-tls.key')]).toEqual([['proxy'], ['gateway']]);
    expect(new Set(Object.values(compose.secrets).map(({ file }) => file)).size).toBe(4);
    expect(compose.services['gateway']?.environment).toMatchObject({
      SMPP_TLS_CERT_FILE: '/run/secrets/smpp-tls.crt',
      SMPP_TLS_KEY_FILE: '/run/secrets/smpp-tls.key',
    });
  });
});
