import { AccountStore, type ApiKeyPrincipal, type Brand } from '@countersign/accounts/accounts';
import { BRANDS } from '@countersign/accounts/records';
import { DatabaseClock, type Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { misfitOf } from '../../admin/brands/brand.resource.js';
import type { AdminResource, Reply } from '../../admin/crud/admin-resource.js';
import { AdminService } from '../../admin/crud/admin.service.js';
import type { PageAnswer, PageQuery } from '../../admin/crud/paging.js';
import type { Plain } from '../../admin/crud/plain.js';
import { refuse, succeed, type Outcome } from '../../http/errors.js';
import type { Developer } from '../../http/developer.decorator.js';
import { DeveloperRights } from '../../http/developer-rights.js';
import type { OwnBrandChange } from './own-brand.dto.js';
import { ownBrandView, type OwnBrandAnswer } from './own-brand.view.js';

type Answer = Plain<OwnBrandAnswer>;

/**
 * The brands of an account. Its developers change the instruction and the logo at once; a name or slug, by which users know
 * whom they trust, waits until an operator approves it.
 */
@Injectable()
export class OwnBrandsService {
  constructor(
    private readonly admin: AdminService,
    private readonly accounts: AccountStore,
    private readonly clock: DatabaseClock,
    private readonly rights: DeveloperRights,
  ) {}

  list({ caller }: Developer, query: PageQuery): Promise<Outcome<PageAnswer<Answer>>> {
    return this.admin.list(resourceOf(caller), query);
  }

  find({ caller }: Developer, id: string): Promise<Outcome<Answer>> {
    return this.admin.find(resourceOf(caller), id);
  }

  /** Live sessions show the texts, so a test key changes none. */
  change(by: Developer, id: string, change: OwnBrandChange): Promise<Outcome<Answer>> {
    if (by.caller.kind === 'test') return Promise.resolve(TEST_KEY);
    const write = async (tx: Executor, brand: Brand): Reply<Brand, Answer> => {
      const held = await this.rights.hold(tx, by);
      if (!held.ok) return held;
      const changed = this.changed(brand, change);
      const asRequested = { name: changed.requestedName ?? brand.name, slug: changed.requestedSlug ?? brand.slug };
      const misfit = misfitOf(changed) ?? misfitOf({ ...changed, ...asRequested });
      return misfit ?? succeed({ row: await this.accounts.updateBrand(tx, changed) });
    };
    return this.rights.inTurn(by, () => this.admin.act(resourceOf(by.caller), by, { id, action: 'update' }, write));
  }

  /** The present name or slug withdraws a request for another. */
  private changed(brand: Brand, { name, slug, instruction, logoUrl }: OwnBrandChange): Brand {
    const texts = {
      ...brand,
      ...(instruction === undefined ? {} : { instruction }),
      ...(logoUrl === undefined ? {} : { logoUrl: logoUrl === null ? null : new URL(logoUrl).href }),
    };
    if (name === undefined && slug === undefined) return texts;
    const requestedName = wishOf(name, brand.name, brand.requestedName);
    const requestedSlug = wishOf(slug, brand.slug, brand.requestedSlug);
    if (requestedName === brand.requestedName && requestedSlug === brand.requestedSlug) return texts;
    const isWithdrawn = requestedName === null && requestedSlug === null;
    const requestedAt = isWithdrawn ? null : new Date(this.clock.nowMs());
    return { ...texts, requestedName, requestedSlug, requestedAt, requestRefusedAt: null };
  }
}

function wishOf(wanted: string | undefined, present: string, requested: string | null): string | null {
  if (wanted === undefined) return requested;
  return wanted === present ? null : wanted;
}

/** The brands that the caller sees: any other is unknown. */
const resourceOf = ({ tenant }: ApiKeyPrincipal): AdminResource<Brand, Answer> => ({
  ...{ name: 'brands', noun: 'brand', idPrefix: 'brd', view: ownBrandView, refusals: {} },
  table: BRANDS.where({ accountId: tenant.accountId }),
});

const TEST_KEY = refuse('FORBIDDEN', { message: 'A test key may not change brands: live sessions show them.' });
