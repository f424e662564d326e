import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import { type AddressRange, inRanges, parseRanges } from '../targets/address-ranges.js';

/** Addresses from which admin keys and members of the installation are accepted (ADMIN_ALLOWED_CIDRS). */
@Injectable()
export class AdminAddresses {
  /** Null for any address. */
  private readonly ranges: readonly AddressRange[] | null;

  constructor(@Inject(ControlPlaneSettings) { adminAllowedCidrs }: Pick<ControlPlaneSettings, 'adminAllowedCidrs'>) {
    this.ranges = adminAllowedCidrs.length === 0 ? null : parseRanges(adminAllowedCidrs);
  }

  has(clientAddress: string): boolean {
    return this.ranges === null || inRanges(clientAddress, this.ranges);
  }
}
