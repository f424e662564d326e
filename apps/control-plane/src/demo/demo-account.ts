import { randomInt } from 'node:crypto';
import { AccountDirectory, AccountStore } from '@countersign/accounts';
import { bindPassword, CarrierDirectory, CarrierStore, systemPasswordMatches } from '@countersign/carriers';
import { SealError, type ServerKeys } from '@countersign/keys';
import { renderId, type Executor, type Uuid } from '@countersign/postgres';
import { DELETE_BIND, DELETE_SYSTEM, FIND_DEMO_BRAND, FIND_INBOUND_NUMBER } from './demo-account.sql.js';
import type { SeedRequest, SimulatorLink } from './seed-request.js';

const ACCOUNT_NAME = 'Acme Inc.';
const BRAND = { name: 'Acme', slug: 'ACME', instruction: 'Send this message to sign in to Acme.' } as const;
/** Of the numbers that are kept for fiction: whoever texts it from a real phone reaches nobody. */
export const DEMO_INBOUND_NUMBER = '+14155550199';
const EVERY_COUNTRY = '*';
const SYSTEM_ID = 'aggregator';
const BIND_NAME = 'simulator';
const PASSWORD_LENGTH = 8;
const PASSWORD_ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** What a development run tells its user about the demo account. */
export interface SeededDemo {
  readonly accountId: string;
  readonly brandId: string;
  readonly brandSlug: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
  readonly inboundNumber: string;
  readonly smpp: { readonly systemId: string; readonly password: string };
}

export interface SeedParts {
  readonly keys: ServerKeys;
  readonly newId: () => Uuid;
  /** The entropy key that a new brand gets. */
  readonly entropyKeyVersion: number;
}

/**
 * Makes sure of the demo account and what belongs to it, in the caller's transaction. Running it again changes nothing
 * that is right already; a secret that does not fit this database is replaced.
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
    const apiKey = await this.ensureApiKey(tx, directory, brand.accountId, request.apiKey);
    await this.ensureInboundNumber(tx);
    const password = await this.ensureSystem(tx, request.smppPassword ?? newPassword());
    if (request.simulator !== null) await this.ensureBind(tx, request.simulator);
    return {
      accountId: renderId('acct', brand.accountId),
      brandId: renderId('brd', brand.id),
      brandSlug: BRAND.slug,
      apiKey,
      webhookSecret: await readSecret(directory, brand.accountId),
      inboundNumber: DEMO_INBOUND_NUMBER,
      smpp: { systemId: SYSTEM_ID, password },
    };
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
    accountId: Uuid,
    given: string | null,
  ): Promise<string> {
    const known = given === null ? null : await directory.authenticate(given);
    if (given !== null && known?.accountId === accountId && known.kind === 'live') return given;
    return (await this.accounts.createApiKey(tx, { accountId, kind: 'live', name: 'demo' })).key;
  }

  private async ensureInboundNumber(tx: Executor): Promise<void> {
    const [known] = await tx.query<{ id: Uuid }>(FIND_INBOUND_NUMBER, [DEMO_INBOUND_NUMBER]);
    if (known !== undefined) return;
    await this.carriers.createInboundNumber(tx, { number: DEMO_INBOUND_NUMBER, countries: [EVERY_COUNTRY] });
  }

  private async ensureSystem(tx: Executor, password: string): Promise<string> {
    const known = await new CarrierDirectory(tx).system(SYSTEM_ID);
    if (systemPasswordMatches(this.parts.keys, known, password)) return password;
    await tx.query(DELETE_SYSTEM, [SYSTEM_ID]);
    await this.carriers.createSystem(tx, { systemId: SYSTEM_ID, password, carrier: 'demo', trustedForMo: true });
    return password;
  }

  private async ensureBind(tx: Executor, link: SimulatorLink): Promise<void> {
    const { host, port, systemId, password } = link;
    const known = (await new CarrierDirectory(tx).listBinds()).find(({ name }) => name === BIND_NAME);
    if (known !== undefined) {
      const wanted = JSON.stringify([[{ host, port }], systemId, password]);
      const hosts = known.hosts.map((each) => ({ host: each.host, port: each.port }));
      if (JSON.stringify([hosts, known.systemId, this.passwordOf(known)]) === wanted) return;
      await tx.query(DELETE_BIND, [BIND_NAME]);
    }
    const bind = {
      name: BIND_NAME,
      carrier: BIND_NAME,
      hosts: [{ host, port }],
      systemId,
      password,
      trustedForMo: true,
    };
    await this.carriers.createBind(tx, bind);
  }

  /** Null when it was sealed with another master key, and so has to be written anew. */
  private passwordOf(bind: Parameters<typeof bindPassword>[1]): string | null {
    try {
      return bindPassword(this.parts.keys, bind);
    } catch (error) {
      if (error instanceof SealError) return null;
      throw error;
    }
  }
}

async function readSecret(directory: AccountDirectory, accountId: Uuid): Promise<string> {
  try {
    return await directory.webhookSecret(accountId);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new Error(
      'the demo account of this database was made with another COUNTERSIGN_MASTER_KEY: set that key again, or use another database',
      { cause: error },
    );
  }
}

/** Eight characters that are not mistaken for each other: all that SMPP allows. */
function newPassword(): string {
  return Array.from({ length: PASSWORD_LENGTH }, () =>
    PASSWORD_ALPHABET.charAt(randomInt(PASSWORD_ALPHABET.length)),
  ).join('');
}
