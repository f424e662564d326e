import type { Uuid } from '@countersign/ids';

/** What has a price: a session by its channel, and a code that was submitted. */
export const PRICED_CHANNELS = ['rcs', 'sms_fallback', 'sms_otp'] as const;
export type PricedChannel = (typeof PRICED_CHANNELS)[number];

/** What one costs from a time on, until a later price of the same channel and country (contract, Usage and Admin). */
export interface Price {
  readonly id: Uuid;
  readonly channel: PricedChannel;
  /** ISO 3166-1 alpha-2, or `*` for countries without a price of their own. */
  readonly country: string;
  /** A decimal number in US dollars. */
  readonly usd: string;
  readonly from: Date;
}
