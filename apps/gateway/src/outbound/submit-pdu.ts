import { submitSm, type Outgoing, type SmppAddress, type SubmitSm } from '@countersign/smpp/pdu';
import type { TextPart } from './text-parts.js';

/** Types of number and numbering plans (SMPP 3.4, 5.2.5 and 5.2.6). */
const INTERNATIONAL = { ton: 1, npi: 1 } as const;
const NETWORK_SPECIFIC = { ton: 3, npi: 0 } as const;
const ALPHANUMERIC = { ton: 5, npi: 0 } as const;
const UNKNOWN = { ton: 0, npi: 1 } as const;

const SHORT_CODE = /^[0-9]{3,8}$/;
const DIGITS = /^[0-9]{9,15}$/;

/** A receipt is wanted, whether it was delivered or not (SMPP 3.4, 5.2.17). */
const EVERY_RECEIPT = 1;
const NO_RECEIPT = 0;

const MINUTE = 60;
const HOUR = 60 * MINUTE;

export interface Envelope {
  /** E.164. */
  readonly destination: string;
  /** E.164, a short code, or letters. */
  readonly source: string;
  /** Seconds, rounded down, until nobody can use it any more; at least 1. */
  readonly validSeconds: number;
}

/** The submit_sm of a code: a receipt for it, gone from the carrier's store when its session is over. */
export function submitPdu(message: Envelope, { isLast, ...text }: TextPart): Outgoing<SubmitSm> {
  return submitSm({
    sourceAddress: senderAddress(message.source),
    destinationAddress: { ...INTERNATIONAL, value: message.destination.slice(1) },
    validityPeriod: relativeTime(message.validSeconds),
    registeredDelivery: isLast ? EVERY_RECEIPT : NO_RECEIPT,
    ...text,
  });
}

/** A sender as carriers want it: without its plus, and said to be what it is. */
export function senderAddress(source: string): SmppAddress {
  if (source.startsWith('+')) return { ...INTERNATIONAL, value: source.slice(1) };
  if (SHORT_CODE.test(source)) return { ...NETWORK_SPECIFIC, value: source };
  return DIGITS.test(source) ? { ...UNKNOWN, value: source } : { ...ALPHANUMERIC, value: source };
}

/** `YYMMDDhhmmss000R`: so long from when the carrier takes it (SMPP 3.4, 7.1.1.2). Less than a day. */
export function relativeTime(seconds: number): string {
  const parts = [Math.floor(seconds / HOUR), Math.floor((seconds % HOUR) / MINUTE), seconds % MINUTE];
  return `000000${parts.map((part) => String(part).padStart(2, '0')).join('')}000R`;
}
