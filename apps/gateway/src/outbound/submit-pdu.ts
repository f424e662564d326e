import type { LinkAlphabet } from '@countersign/carriers';
import { submitSm, type Outgoing, type SmppAddress, type SubmitSm } from '@countersign/smpp';
import { encodeGsm, encodeUcs2, packSeptets } from '@countersign/text';

/** Types of number and numbering plans (SMPP 3.4, 5.2.5 and 5.2.6). */
const INTERNATIONAL = { ton: 1, npi: 1 } as const;
const NETWORK_SPECIFIC = { ton: 3, npi: 0 } as const;
const ALPHANUMERIC = { ton: 5, npi: 0 } as const;
const UNKNOWN = { ton: 0, npi: 1 } as const;

const SHORT_CODE = /^[0-9]{3,8}$/;
const DIGITS = /^[0-9]{9,15}$/;

/** A receipt is wanted, whether it was delivered or not (SMPP 3.4, 5.2.17). */
const EVERY_RECEIPT = 1;
const DEFAULT_CODING = 0;
const UCS2_CODING = 8;

const MINUTE = 60;
const HOUR = 60 * MINUTE;

export interface OutgoingText {
  /** E.164. */
  readonly destination: string;
  /** E.164, a short code, or letters. */
  readonly source: string;
  readonly text: string;
  /** Seconds, rounded down, until nobody can use it any more; at least 1. */
  readonly validSeconds: number;
}

/** The submit_sm of a code: one message, a receipt for it, gone from the carrier's store when its session is over. */
export function submitPdu(message: OutgoingText, alphabet: LinkAlphabet): Outgoing<SubmitSm> {
  return submitSm({
    sourceAddress: senderAddress(message.source),
    destinationAddress: { ...INTERNATIONAL, value: message.destination.slice(1) },
    validityPeriod: relativeTime(message.validSeconds),
    registeredDelivery: EVERY_RECEIPT,
    ...encoded(message.text, alphabet),
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

interface EncodedText {
  readonly dataCoding: number;
  readonly shortMessage: Buffer;
}

/** In what the carrier takes for its default alphabet; UCS-2 where that lacks a character. */
function encoded(text: string, alphabet: LinkAlphabet): EncodedText {
  const octets = inDefault(text, alphabet);
  return octets === null
    ? { dataCoding: UCS2_CODING, shortMessage: encodeUcs2(text) }
    : { dataCoding: DEFAULT_CODING, shortMessage: octets };
}

function inDefault(text: string, alphabet: LinkAlphabet): Buffer | null {
  switch (alphabet) {
    case 'gsm':
      return encodeGsm(text);
    case 'gsm-packed': {
      const septets = encodeGsm(text);
      return septets === null ? null : packSeptets(septets);
    }
    case 'latin1':
      return upTo(0xff, text);
    case 'ascii':
      return upTo(0x7f, text);
  }
}

/** One octet a character, where no character is beyond that one. */
function upTo(highest: number, text: string): Buffer | null {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > highest) return null;
  return Buffer.from(text, 'latin1');
}
