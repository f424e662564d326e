import type { Uuid } from '@countersign/postgres';

/** What a key may do (contract, Authentication): sessions, codes, usage, realtime, webhook deliveries. */
export const SCOPES = ['verify', 'otp', 'usage', 'realtime', 'webhooks'] as const;
export type Scope = (typeof SCOPES)[number];

/** A tenant: who asks for verifications and is told of them. */
export interface Account {
  readonly id: Uuid;
  readonly name: string;
  /** Told of what happens to sessions that name no webhook of their own. */
  readonly defaultWebhookUrl: string | null;
  /** Opt-in event types that the account wants besides `verification.completed`. */
  readonly webhookEvents: readonly string[];
  readonly active: boolean;
}

/** What the end user sees: a name, the slug in the token, the line under it. */
export interface Brand {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly name: string;
  readonly slug: string;
  readonly instruction: string;
  /** The entropy key it was created with; it never changes. */
  readonly entropyKeyVersion: number;
  readonly active: boolean;
}

/** Who a request speaks for. */
export interface ApiKeyPrincipal {
  readonly keyId: Uuid;
  readonly kind: 'live' | 'test';
  readonly accountId: Uuid;
  readonly scopes: readonly Scope[];
}
