import type { Mode, Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';

/** Scopes of a key (contract, Authentication): sessions, codes, usage, realtime, webhook deliveries. */
export const SCOPES = ['verify', 'otp', 'usage', 'realtime', 'webhooks'] as const;
export type Scope = (typeof SCOPES)[number];

/** The quotas of a key (contract, General). */
export const LIMIT_NAMES = ['default', 'create', 'poll', 'usage'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** Requests per minute of a key, where they differ from the usual limits. */
export type KeyLimits = Partial<Readonly<Record<LimitName, number>>>;

/** An account: it requests verifications and receives their events. */
export interface Account {
  readonly id: Uuid;
  readonly name: string;
  /** Receives events of sessions without their own webhook. */
  readonly defaultWebhookUrl: string | null;
  /** When it was disabled because every delivery failed; null while it is used. */
  readonly defaultWebhookDisabledAt: Date | null;
  /** The reason, as text for users; null while it is used. */
  readonly defaultWebhookDisabledReason: string | null;
  /** Receives events of test sessions without their own webhook; null for none. */
  readonly testWebhookUrl: string | null;
  /** Opt-in event types, besides `verification.completed`. */
  readonly webhookEvents: readonly string[];
  /** ISO 3166-1 alpha-2 codes of the countries to which codes are sent; `*` for all. */
  readonly otpCountries: readonly string[];
  /** Maximum cost of codes per day (UTC), a decimal number in US dollars; null for no cap. */
  readonly otpDailySpendCapUsd: string | null;
  /** Maximum number of codes per day (UTC). */
  readonly otpDailyMessageCap: number;
  /** Codes per hour that may stay unconverted before any approval earns credits. */
  readonly otpUnconvertedFloor: number;
  readonly active: boolean;
}

/** The identity that end users see: name, slug in the token, line below it. */
export interface Brand {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly name: string;
  readonly slug: string;
  readonly instruction: string;
  readonly logoUrl: string | null;
  readonly rcsAgentId: string | null;
  /** Whether the card asks for the number shown in the browser. */
  readonly rcsNumberMatching: boolean;
  /** Default sender of codes for routes without one: E.164, a short code, or up to 11 letters and digits. */
  readonly senderId: string | null;
  /** The site on which phones fill in a code (web OTP). */
  readonly domain: string | null;
  /** The entropy key version at creation; it never changes. */
  readonly entropyKeyVersion: number;
  readonly active: boolean;
}

/** The authenticated caller of a request. */
export interface ApiKeyPrincipal {
  readonly keyId: Uuid;
  readonly kind: Mode;
  /** The account in the mode of the key: the key can read and change nothing else. */
  readonly tenant: Tenant;
  readonly scopes: readonly Scope[];
  readonly limits: KeyLimits;
}

/** A key without its secret. */
export interface ApiKey {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly kind: Mode;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly limits: KeyLimits;
  /** Its first characters, to recognise it. */
  readonly prefix: string;
  /** Some seconds behind; null until the first use. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}
