import { randomInt } from 'node:crypto';
import { createWebhookSecret, type ServerKeys, SIGN_IN_ACCOUNT_ID, SIGN_IN_BRAND_ID } from '@countersign/keys';
import type { Executor } from '@countersign/postgres';
import { ACCOUNTS, BRANDS, type Brand } from '../accounts/index.js';
import { sealWebhookSecret } from '../accounts/webhook-secrets.js';

const SLUG = 'CONSOLE';
const TEXTS = { name: 'Countersign', instruction: 'Send this message to sign in to the Countersign console.' } as const;
/**
 * Codes go to the phones of members and holders of admin keys alone, which an owner has written down, so nobody earns money
 * with them, and a budget of the account would only let whoever begins many sign-ins block those of others. The caps of each
 * phone hold.
 */
const NO_BUDGET = { otpCountries: ['*'], otpUnconvertedFloor: 1_000_000, otpDailyMessageCap: 1_000_000 };

/** $1 slug. */
const IS_TAKEN = `SELECT FROM brands WHERE slug = $1`;

/** The account and the brand of verifications that sign in to the console. */
export class SignInBrandStore {
  private readonly entropyKeyVersion: number;

  /** The brand gets the latest of the entropy keys. */
  constructor(
    private readonly keys: ServerKeys,
    { entropyKeys }: { readonly entropyKeys: ReadonlyMap<number, unknown> },
  ) {
    this.entropyKeyVersion = Math.max(...entropyKeys.keys());
  }

  /** The brand, created at its first use, with its account. Takes no lock once it exists. */
  async ensure(tx: Executor): Promise<Brand> {
    return (await BRANDS.find(tx, SIGN_IN_BRAND_ID)) ?? this.create(tx);
  }

  /** Of concurrent first uses one creates the rows. Only members get codes, so every country may. */
  private async create(tx: Executor): Promise<Brand> {
    const sealed = (mode: 'live' | 'test'): Buffer =>
      sealWebhookSecret(this.keys, { accountId: SIGN_IN_ACCOUNT_ID, mode }, createWebhookSecret());
    await ACCOUNTS.insertIfNew(tx, {
      id: SIGN_IN_ACCOUNT_ID,
      name: TEXTS.name,
      ...NO_BUDGET,
      webhookSecretSealed: sealed('live'),
      testWebhookSecretSealed: sealed('test'),
    });
    const { entropyKeyVersion } = this;
    const slug = await freeSlug(tx);
    const ids = { id: SIGN_IN_BRAND_ID, accountId: SIGN_IN_ACCOUNT_ID };
    await BRANDS.insertIfNew(tx, { ...ids, ...TEXTS, slug, entropyKeyVersion });
    const created = await BRANDS.find(tx, SIGN_IN_BRAND_ID);
    if (created === null) throw new Error('the slug of the brand of sign-ins was taken meanwhile');
    return created;
  }
}

/** A brand of an account may have the usual slug. */
async function freeSlug(tx: Executor): Promise<string> {
  const taken = await tx.query(IS_TAKEN, [SLUG]);
  return taken.length === 0 ? SLUG : `${SLUG}${String(randomInt(10_000, 100_000))}`;
}
