import { randomBytes } from 'node:crypto';

const SECRET_OCTETS = 32;

/** A new signing secret as Standard Webhooks writes it: `whsec_` and the standard base64 of 32 random octets. */
export function createWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_OCTETS).toString('base64')}`;
}
