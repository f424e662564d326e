import { AccountStore, type Brand, checkBrand } from '@countersign/accounts/accounts';
import { BRANDS } from '@countersign/accounts/records';
import { parseId } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { refuse, succeed } from '../../http/errors.js';
import { AdminDefaults } from '../crud/admin-defaults.js';
import { NO_SUCH_ACCOUNT, type CrudResource, type Reply } from '../crud/admin-resource.js';
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
  ) {}

  async create(tx: Executor, body: BrandDraft): Reply<Brand, Answer> {
    const { accountId: sentId, name, slug, instruction, ...rest } = body;
    const accountId = parseId('acct', sentId);
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
}

/** Converts a body to stored fields: URLs in normalized form, host names in lower case. */
function stored({ logoUrl, domain, ...rest }: Plain<BrandChange>): Partial<Brand> {
  return {
    ...rest,
    ...(logoUrl === undefined ? {} : { logoUrl: logoUrl === null ? null : new URL(logoUrl).href }),
    ...(domain === undefined ? {} : { domain: domain?.toLowerCase() ?? null }),
  };
}

function misfitOf(
  brand: Parameters<typeof checkBrand>[0],
): { ok: false; refusal: ReturnType<typeof refuse>['refusal'] } | null {
  const check = checkBrand(brand);
  if (check.ok) return null;
  return refuse('VALIDATION_ERROR', { message: `${check.field} ${check.message}.`, field: check.field });
}
