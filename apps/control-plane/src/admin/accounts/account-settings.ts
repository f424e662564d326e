import type { Account } from '@countersign/accounts/accounts';
import type { Plain } from '../crud/plain.js';
import type { AccountChange } from './account.dto.js';

/**
 * The stored fields of a body. URLs are in normalized form, so that the stored URL is the one that is called. Setting the
 * default URL, even to the same one, enables it again.
 */
export function settingsOf(change: Plain<AccountChange>): Partial<Account> {
  const { otpDailySpendCapUsd: cap, defaultWebhookUrl, testWebhookUrl, ...rest } = change;
  return {
    ...rest,
    ...(defaultWebhookUrl === undefined ? {} : { ...ENABLED, defaultWebhookUrl: normalizedUrl(defaultWebhookUrl) }),
    ...(testWebhookUrl === undefined ? {} : { testWebhookUrl: normalizedUrl(testWebhookUrl) }),
    ...(cap === undefined ? {} : { otpDailySpendCapUsd: cap === null ? null : String(cap) }),
  };
}

const ENABLED = { defaultWebhookDisabledAt: null, defaultWebhookDisabledReason: null } as const;

const normalizedUrl = (url: string | null): string | null => (url === null ? null : new URL(url).href);
