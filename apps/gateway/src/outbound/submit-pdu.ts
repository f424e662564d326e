import { submitSm, type Outgoing, type SmppAddress, type SubmitSm } from '@countersign/smpp/pdu';
import type { TextPart } from './text-parts.js';

/** Types of number and numbering plans (SMPP 3.4, 5.2.5 and 5.2.6). */
const INTERNATIONAL = { ton: 1, npi: 1 } as const;
const NETWORK_SPECIFIC = { ton: 3, npi: 0 } as const;
const ALPHANUMERIC = { ton: 5, npi: 0 } as const;
const UNKNOWN = { ton: 0, npi: 1 } as const;

const SHORT_CODE = /^[0-9]{3,8}$/;
const DIGITS = /^[0-9]{9,15}$/;

/** registered_delivery: receipt for success and failure (SMPP 3.4, 5.2.17). */
const EVERY_RECEIPT = 1;
const NO_RECEIPT = 0;

const MINUTE = 60;
const HOUR = 60 * MINUTE;

export interface Envelope {
  /** E.164. */
  readonly destination: string;
  /** E.164, a short code, or alphanumeric. */
  readonly source: string;
  /** Seconds until the code expires, rounded down; at least 1. */
  readonly validSeconds: number;
}

/** The submit_sm of a code: requests a receipt for the last part; the validity period ends with the session. */
export function submitPdu(message: Envelope, { isLast, ...text }: TextPart): Outgoing<SubmitSm> {
  return submitSm({
    sourceAddress: senderAddress(message.source),
    destinationAddress: { ...INTERNATIONAL, value: message.destination.slice(1) },
    validityPeriod: relativeTime(message.validSeconds),
    registeredDelivery: isLast ? EVERY_RECEIPT : NO_RECEIPT,
    ...text,
  });
}

/** The source address of a sender, with its TON and NPI, without the plus. */
export function senderAddress(source: string): SmppAddress {
  if (source.startsWith('+')) return { ...INTERNATIONAL, value: source.slice(1) };
  if (SHORT_CODE.test(source)) return { ...NETWORK_SPECIFIC, value: source };
  return DIGITS.test(source) ? { ...UNKNOWN, value: source } : { ...ALPHANUMERIC, value: source };
}

/** `YYMMDDhhmmss000R`: relative to the carrier's receipt of the message (SMPP 3.4, 7.1.1.2). Less than a day. */
export function relativeTime(seconds: number): string {
  const parts = [Math.floor(seconds / HOUR), Math.floor((seconds % HOUR) / MINUTE), seconds % MINUTE];
  return `000000${parts.map((part) => String(part).padStart(2, '0')).join('')}000R`;
}
