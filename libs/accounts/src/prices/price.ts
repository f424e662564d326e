import type { Uuid } from '@countersign/ids';

/** Priced items: a session by its channel, and a submitted code. */
export const PRICED_CHANNELS = ['rcs', 'sms_fallback', 'sms_otp'] as const;
export type PricedChannel = (typeof PRICED_CHANNELS)[number];

/**
 * The price of one item from a time on, until a later price of the same channel and country (contract, Usage and
 * Admin).
 */
export interface Price {
  readonly id: Uuid;
  readonly channel: PricedChannel;
  /** ISO 3166-1 alpha-2, or `*` for countries without their own price. */
  readonly country: string;
  /** A decimal number in US dollars. */
  readonly usd: string;
  readonly from: Date;
}
