import { AccountDirectory, type ApiKeyPrincipal, type Brand } from '@countersign/accounts/accounts';
import { CarrierDirectory } from '@countersign/carriers/config';
import { parseId } from '@countersign/ids';
import { Injectable } from '@nestjs/common';

/** Finds the brand of a new session and the number to which its phone sends. */
@Injectable()
export class BrandLookup {
  constructor(
    private readonly accounts: AccountDirectory,
    private readonly carriers: CarrierDirectory,
  ) {}

  /** The answer is the same for another account's brand and for an unknown one. */
  async activeBrand({ tenant }: ApiKeyPrincipal, brandId: string): Promise<Brand | null> {
    const id = parseId('brd', brandId);
    const brand = id === null ? null : await this.accounts.brand(id);
    return brand !== null && brand.active && brand.accountId === tenant.accountId ? brand : null;
  }

  inboundNumberFor(country: string, { id }: Brand): Promise<string | null> {
    return this.carriers.inboundNumberFor(country, id);
  }
}
