import { AccountDirectory, type Brand } from '@countersign/accounts/accounts';
import { CarrierDirectory } from '@countersign/carriers/config';
import { parseId } from '@countersign/ids';
import { Injectable } from '@nestjs/common';

/** Brands and the senders of their codes. */
@Injectable()
export class BrandSenders {
  constructor(
    private readonly accounts: AccountDirectory,
    private readonly carriers: CarrierDirectory,
  ) {}

  async activeBrand(brandId: string): Promise<Brand | null> {
    const id = parseId('brd', brandId);
    const brand = id === null ? null : await this.accounts.brand(id);
    return brand?.active === true ? brand : null;
  }

  /** The sender of codes of a new session: the brand's, else the number to which the phone would send. */
  async senderOf({ id, senderId }: Brand, country: string): Promise<string | null> {
    return senderId ?? (await this.carriers.inboundNumberFor(country, id));
  }
}
