import type { Mode, Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';

/** What a key may do (contract, Authentication): sessions, codes, usage, realtime, webhook deliveries. */
export const SCOPES = ['verify', 'otp', 'usage', 'realtime', 'webhooks'] as const;
export type Scope = (typeof SCOPES)[number];

/** The quotas of a key (contract, General). */
export const LIMIT_NAMES = ['default', 'create', 'poll', 'usage'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** Requests a minute that a key may make, where they are not the usual ones. */
export type KeyLimits = Partial<Readonly<Record<LimitName, number>>>;

/** A tenant: who asks for verifications and is told of them. */
export interface Account {
  readonly id: Uuid;
  readonly name: string;
  /** Told of what happens to sessions that name no webhook of their own. */
  readonly defaultWebhookUrl: string | null;
  /** When that was given up, for nothing but failure came of it; null while it is used. */
  readonly defaultWebhookDisabledAt: Date | null;
  /** Why, for people; null while it is used. */
  readonly defaultWebhookDisabledReason: string | null;
  /** Receives events of test sessions that name no webhook of their own; null for none. */
  readonly testWebhookUrl: string | null;
  /** Opt-in event types that the account wants besides `verification.completed`. */
  readonly webhookEvents: readonly string[];
  /** ISO 3166-1 alpha-2 of the countries that codes are sent to; `*` for all. */
  readonly otpCountries: readonly string[];
  /** What codes may cost in a day (UTC), a decimal number in US dollars; null for no cap. */
  readonly otpDailySpendCapUsd: string | null;
  /** Codes in one day (UTC) at most. */
  readonly otpDailyMessageCap: number;
  /** Codes in an hour that may stay unconverted before any approval earns credits. */
  readonly otpUnconvertedFloor: number;
  readonly active: boolean;
}

/** What the end user sees: a name, the slug in the token, the line under it. */
export interface Brand {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly name: string;
  readonly slug: string;
  readonly instruction: string;
  readonly logoUrl: string | null;
  readonly rcsAgentId: string | null;
  /** Whether the card asks for the number that the browser shows. */
  readonly rcsNumberMatching: boolean;
  /** The sender of codes where a route names none: E.164, a short code, or up to 11 letters and digits. */
  readonly senderId: string | null;
  /** The site that a phone may fill a code into (web OTP). */
  readonly domain: string | null;
  /** The entropy key it was created with; it never changes. */
  readonly entropyKeyVersion: number;
  readonly active: boolean;
}

/** Who a request speaks for. */
export interface ApiKeyPrincipal {
  readonly keyId: Uuid;
  readonly kind: Mode;
  /** The account in the mode of the key: all that the key may see or change. */
  readonly tenant: Tenant;
  readonly scopes: readonly Scope[];
  readonly limits: KeyLimits;
}

/** A key as its keepers see it: all but the key. */
export interface ApiKey {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly kind: Mode;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly limits: KeyLimits;
  /** Its first characters: enough to recognise it by. */
  readonly prefix: string;
  /** Some seconds behind; null until it is used. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}
