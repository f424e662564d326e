import { AccountStore, type Brand, checkBrand } from '@countersign/accounts/accounts';
import { BRANDS } from '@countersign/accounts/records';
import { DatabaseClock, type Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { refuse, succeed } from '../../http/errors.js';
import { AdminDefaults } from '../crud/admin-defaults.js';
import { accountIdOf, NO_SUCH_ACCOUNT, type CrudResource, type Reply } from '../crud/admin-resource.js';
import type { Plain } from '../crud/plain.js';
import type { BrandChange, BrandDraft } from './brand.dto.js';
import { type BrandAnswer, brandView } from './brand.view.js';

type Answer = Plain<BrandAnswer>;

@Injectable()
export class BrandResource implements CrudResource<Brand, Answer, BrandDraft, BrandChange> {
  readonly name = 'brands';
  readonly noun = 'brand';
  readonly idPrefix = 'brd';
  readonly table = BRANDS;
  readonly view = brandView;
  readonly refusals = {
    brands_slug_key: { code: 'CONFLICT', field: 'slug', message: 'Another brand has this slug.' },
    brands_account_id_fkey: NO_SUCH_ACCOUNT,
  } as const;

  constructor(
    private readonly accounts: AccountStore,
    private readonly defaults: AdminDefaults,
    private readonly clock: DatabaseClock,
  ) {}

  async create(tx: Executor, body: BrandDraft): Reply<Brand, Answer> {
    const { accountId: sentId, name, slug, instruction, ...rest } = body;
    const accountId = accountIdOf(sentId);
    if (accountId === null) return { ok: false, refusal: NO_SUCH_ACCOUNT };
    const texts = { name, slug, instruction };
    const misfit = misfitOf({ domain: null, ...stored(rest), ...texts });
    if (misfit !== null) return misfit;
    const { entropyKeyVersion } = this.defaults;
    const draft = { ...stored(rest), ...texts, accountId, entropyKeyVersion };
    return succeed({ row: await this.accounts.createBrand(tx, draft) });
  }

  async update(tx: Executor, brand: Brand, change: BrandChange): Reply<Brand, Answer> {
    const changed = { ...brand, ...stored(change) };
    return misfitOf(changed) ?? succeed({ row: await this.accounts.updateBrand(tx, changed) });
  }

  /** Gives the brand the requested name and slug. `requestedAt` is the request that the engineer has seen. */
  async approve(tx: Executor, brand: Brand, requestedAt: string | undefined): Reply<Brand, Answer> {
    if (brand.requestedAt === null) return NO_REQUEST;
    if (requestedAt !== undefined && Date.parse(requestedAt) !== brand.requestedAt.getTime()) return OTHER_REQUEST;
    const { name, slug, requestedName, requestedSlug } = brand;
    const approved = { ...brand, ...WITHOUT_REQUEST, name: requestedName ?? name, slug: requestedSlug ?? slug };
    return misfitOf(approved) ?? succeed({ row: await this.accounts.updateBrand(tx, approved) });
  }

  async refuse(tx: Executor, brand: Brand): Reply<Brand, Answer> {
    if (brand.requestedAt === null) return NO_REQUEST;
    const requestRefusedAt = new Date(this.clock.nowMs());
    return succeed({ row: await this.accounts.updateBrand(tx, { ...brand, ...WITHOUT_REQUEST, requestRefusedAt }) });
  }
}

const WITHOUT_REQUEST = { requestedName: null, requestedSlug: null, requestedAt: null } as const;
const NO_REQUEST = refuse('CONFLICT', { message: 'The account has requested no other name or slug.' });
const OTHER_REQUEST = refuse('CONFLICT', { message: 'The account has changed its request since: look at it again.' });

/** Converts a body to stored fields: URLs in normalized form, host names in lower case. */
function stored({ logoUrl, domain, ...rest }: Plain<BrandChange>): Partial<Brand> {
  return {
    ...rest,
    ...(logoUrl === undefined ? {} : { logoUrl: logoUrl === null ? null : new URL(logoUrl).href }),
    ...(domain === undefined ? {} : { domain: domain?.toLowerCase() ?? null }),
  };
}

/** The refusal of texts that do not fit one SMS; null when they fit. */
export function misfitOf(
  brand: Parameters<typeof checkBrand>[0],
): { ok: false; refusal: ReturnType<typeof refuse>['refusal'] } | null {
  const check = checkBrand(brand);
  if (check.ok) return null;
  return refuse('VALIDATION_ERROR', { message: `${check.field} ${check.message}.`, field: check.field });
}
