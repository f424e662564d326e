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

/** An SMS that a phone sent, and what the service answered; null when it never did. */
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
