import { randomUUID } from 'node:crypto';
import type { SmsItem } from '../phone/phone-item.js';

/** An SMS that reached a phone. */
export const receivedItem = (sms: { to: string; from: string; text: string; at: string }): SmsItem => ({
  kind: 'sms',
  direction: 'in',
  id: randomUUID(),
  phone: sms.to,
  peer: sms.from,
  text: sms.text,
  at: sms.at,
  commandStatus: null,
});

/** An SMS from a phone, with the service's command_status; null when it did not answer. */
export const sentItem = (from: string, to: string, text: string, commandStatus: number | null): SmsItem => ({
  kind: 'sms',
  direction: 'out',
  id: randomUUID(),
  phone: from,
  peer: to,
  text,
  at: new Date().toISOString(),
  commandStatus,
});
