import { AccountDirectory, AccountStore, type KeyLimits } from '@countersign/accounts/accounts';
import { BegunSignInStore } from '@countersign/accounts/console-sessions';
import {
  bindPassword,
  CarrierDirectory,
  CarrierStore,
  systemPasswordMatches,
  type Bind,
} from '@countersign/carriers/config';
import {
  createSystemPassword,
  isCommonPassword,
  lacksTrustProof,
  MIN_CHOSEN_PASSWORD_CHARACTERS,
} from '@countersign/carriers/credentials';
import { SealError, type ServerKeys, type Tenant } from '@countersign/keys';
import { renderId, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import {
  DELETE_BIND,
  DELETE_BIND_ROUTES,
  DELETE_SYSTEM,
  FIND_DEMO_BRAND,
  FIND_INBOUND_NUMBER,
  SET_AGENT,
  ALLOW_ALL_COUNTRIES,
  RAISE_CAPS,
  RAISE_LIMITS,
} from './demo-account.sql.js';
import type { SeedRequest, SimulatorLink } from './seed-request.js';

const ACCOUNT_NAME = 'Acme Inc.';
const BRAND = { name: 'Acme', slug: 'ACME', instruction: 'Send this message to sign in to Acme.' } as const;
/** The agent id that the simulator's RBM service accepts, and a logo URL that it never fetches. */
const AGENT_ID = 'countersign_demo';
const LOGO_URL = 'https://acme.example/logo.png';
/** A number reserved for fictional use: an SMS to it from a real phone reaches nobody. */
export const DEMO_INBOUND_NUMBER = '+14155550199';
const EVERY_COUNTRY = '*';
const EVERY_NUMBER = '+';
/** A thousand times the default limits, so that a load test of a development run is not rate limited. */
const DEMO_LIMITS: Required<KeyLimits> = { default: 600_000, create: 300_000, poll: 60_000, usage: 60_000 };
/** Raised caps of codes, because a load test approves none of them. */
const DEMO_MESSAGES_A_DAY = 1_000_000;
const DEMO_UNCONVERTED_FLOOR = 100_000;
const SYSTEM_ID = 'aggregator';
const CONSOLE_LINK_SECONDS = 3_600;
const BIND_NAME = 'simulator';
/** Allowed networks of the demo system. A trusted system needs narrow ones. */
const LOOPBACK = ['127.0.0.0/16', '::1/128'];

/** The demo account, as the launcher of a development run prints it. */
export interface SeededDemo {
  readonly accountId: string;
  readonly brandId: string;
  readonly brandSlug: string;
  readonly apiKey: string;
  /** Test key of the same account: its sessions send no message. */
  readonly testApiKey: string;
  readonly webhookSecret: string;
  /** Signs webhooks of test sessions. */
  readonly testWebhookSecret: string;
  readonly inboundNumber: string;
  /** The path and query of the link that signs in to the console, once. */
  readonly consolePath: string;
  readonly smpp: { readonly systemId: string; readonly password: string };
}

interface WantedKey {
  readonly accountId: Uuid;
  readonly kind: 'live' | 'test';
  /** The key of an earlier run; null if there is none. */
  readonly given: string | null;
}

export interface SeedParts {
  readonly keys: ServerKeys;
  readonly newId: () => Uuid;
  /** The entropy key version of a new brand. */
  readonly entropyKeyVersion: number;
}

/**
 * Creates the demo account with its brand, keys, number, system, bind and route, in the caller's transaction. A second run
 * keeps everything that is valid, and replaces a secret that does not match this database.
 */
export class DemoSeed {
  private readonly accounts: AccountStore;
  private readonly carriers: CarrierStore;

  constructor(private readonly parts: SeedParts) {
    this.accounts = new AccountStore(parts);
    this.carriers = new CarrierStore(parts);
  }

  async run(tx: Executor, request: SeedRequest): Promise<SeededDemo> {
    const brand = await this.ensureBrand(tx);
    const directory = new AccountDirectory(tx, this.parts.keys);
    await tx.query(ALLOW_ALL_COUNTRIES, [brand.accountId]);
    await tx.query(RAISE_CAPS, [brand.accountId, DEMO_MESSAGES_A_DAY, DEMO_UNCONVERTED_FLOOR]);
    const ensureKey = (kind: 'live' | 'test', given: string | null): Promise<string> =>
      this.ensureApiKey(tx, directory, { accountId: brand.accountId, kind, given });
    const apiKey = await ensureKey('live', request.apiKey);
    const testApiKey = await ensureKey('test', request.testApiKey);
    await this.ensureInboundNumber(tx);
    const password = await this.ensureSystem(tx, request.smppPassword);
    if (request.simulator !== null) {
      await tx.query(SET_AGENT, [brand.id, AGENT_ID, LOGO_URL]);
      await this.ensureRoute(tx, await this.ensureBind(tx, request.simulator));
    }
    return {
      accountId: renderId('acct', brand.accountId),
      brandId: renderId('brd', brand.id),
      brandSlug: BRAND.slug,
      apiKey,
      testApiKey,
      webhookSecret: await readSecret(directory, { accountId: brand.accountId, mode: 'live' }),
      testWebhookSecret: await readSecret(directory, { accountId: brand.accountId, mode: 'test' }),
      inboundNumber: DEMO_INBOUND_NUMBER,
      consolePath: await this.newConsolePath(tx, renderId('acct', brand.accountId)),
      smpp: { systemId: SYSTEM_ID, password },
    };
  }

  /** Leads to the quickstart of the account. Links of earlier runs end. */
  private async newConsolePath(tx: Executor, accountId: string): Promise<string> {
    const signIns = new BegunSignInStore(this.parts.keys);
    await signIns.discard(tx, 'link');
    const token = await signIns.begin(tx, { kind: 'link', state: '', seconds: CONSOLE_LINK_SECONDS });
    return `/console/api/sign-in/link?token=${token}&account=${accountId}`;
  }

  private async ensureBrand(tx: Executor): Promise<{ id: Uuid; accountId: Uuid }> {
    const [known] = await tx.query<{ id: Uuid; accountId: Uuid }>(FIND_DEMO_BRAND, [BRAND.slug]);
    if (known !== undefined) return known;
    const { account } = await this.accounts.createAccount(tx, { name: ACCOUNT_NAME });
    const { entropyKeyVersion } = this.parts;
    return this.accounts.createBrand(tx, { accountId: account.id, ...BRAND, entropyKeyVersion });
  }

  private async ensureApiKey(
    tx: Executor,
    directory: AccountDirectory,
    { accountId, kind, given }: WantedKey,
  ): Promise<string> {
    const known = given === null ? null : await directory.authenticate(given);
    const isValid = given !== null && known?.tenant.accountId === accountId && known.kind === kind;
    const { id, key } = isValid
      ? { id: known.keyId, key: given }
      : await this.accounts.createApiKey(tx, { accountId, kind, name: 'demo' });
    await tx.query(RAISE_LIMITS, [id, JSON.stringify(DEMO_LIMITS)]);
    return key;
  }

  private async ensureInboundNumber(tx: Executor): Promise<void> {
    const [known] = await tx.query<{ id: Uuid }>(FIND_INBOUND_NUMBER, [DEMO_INBOUND_NUMBER]);
    if (known !== undefined) return;
    await this.carriers.createInboundNumber(tx, { number: DEMO_INBOUND_NUMBER, countries: [EVERY_COUNTRY] });
  }

  /** Replaces a weak password. A demo system of an earlier release is restricted to loopback. */
  private async ensureSystem(tx: Executor, given: string | null): Promise<string> {
    const password = given === null || isWeak(given) ? createSystemPassword() : given;
    const known = await new CarrierDirectory(tx).system(SYSTEM_ID);
    if (known !== null && systemPasswordMatches(this.parts.keys, known, password)) {
      if (lacksTrustProof(known)) await this.carriers.updateSystem(tx, { ...known, allowedCidrs: LOOPBACK });
      return password;
    }
    await tx.query(DELETE_SYSTEM, [SYSTEM_ID]);
    const system = { systemId: SYSTEM_ID, password, carrier: 'demo', trustedForMo: true, allowedCidrs: LOOPBACK };
    await this.carriers.createSystem(tx, system);
    return password;
  }

  private async ensureBind(tx: Executor, link: SimulatorLink): Promise<Bind> {
    const { host, port, systemId, password } = link;
    const known = (await new CarrierDirectory(tx).listBinds()).find(({ name }) => name === BIND_NAME);
    if (known !== undefined) {
      const wanted = JSON.stringify([[{ host, port }], systemId, password]);
      const hosts = known.hosts.map((each) => ({ host: each.host, port: each.port }));
      if (JSON.stringify([hosts, known.systemId, this.passwordOf(known)]) === wanted)
        return this.withInternationalSenders(tx, known);
      await tx.query(DELETE_BIND_ROUTES, [BIND_NAME]);
      await tx.query(DELETE_BIND, [BIND_NAME]);
    }
    const bind = {
      name: BIND_NAME,
      carrier: BIND_NAME,
      hosts: [{ host, port }],
      systemId,
      password,
      trustedForMo: true,
      senderFormat: 'international' as const,
      // The simulator has no rate limit, and a load test must not be limited by ours.
      submitPerSecond: 1_000,
    };
    return this.carriers.createBind(tx, bind);
  }

  /** Replaces the format `auto`, which earlier releases set. A format that an operator chose stays. */
  private withInternationalSenders(tx: Executor, bind: Bind): Promise<Bind> {
    if (bind.senderFormat !== 'auto') return Promise.resolve(bind);
    return this.carriers.updateBind(tx, { ...bind, senderFormat: 'international' });
  }

  /** Routes codes to all numbers to the simulator. An existing route stays, also if an operator changed or disabled it. */
  private async ensureRoute(tx: Executor, bind: Bind): Promise<void> {
    const routes = await this.carriers.listRoutes(tx);
    if (routes.some(({ bindId }) => bindId === bind.id)) return;
    await this.carriers.createRoute(tx, { prefix: EVERY_NUMBER, bindId: bind.id });
  }

  /** Null if the password was sealed with another master key; the bind is then created again. */
  private passwordOf(bind: Bind): string | null {
    try {
      return bindPassword(this.parts.keys, bind);
    } catch (error) {
      if (error instanceof SealError) return null;
      throw error;
    }
  }
}

async function readSecret(directory: AccountDirectory, tenant: Tenant): Promise<string> {
  try {
    const [secret] = await directory.webhookSecrets(tenant);
    if (secret === undefined) throw new Error('demo seed: the account has no webhook secret');
    return secret;
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new Error(
      'demo seed: the demo account of this database was created with another COUNTERSIGN_MASTER_KEY: set that key again, or use another database',
      { cause: error },
    );
  }
}

const isWeak = (password: string): boolean =>
  password.length < MIN_CHOSEN_PASSWORD_CHARACTERS || isCommonPassword(password);
