import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { createWebhookSecret, webhookSignature } from './webhook-secret.js';

describe('a webhook signature', () => {
  it('equals that of the Standard Webhooks library', () => {
    const at = new Date(1_795_312_086_000);
    for (const body of ['', '{}', '{"name":"Grüße"}']) {
      const secret = createWebhookSecret();
      const expected = new Webhook(secret).sign('evt_1', at, body);
      expect(webhookSignature(secret, `evt_1.1795312086.${body}`)).toBe(expected);
    }
  });
});
