import { nationalDigits, type SmppAddress } from '@countersign/phone';
import type { AddressOptions } from '@countersign/carriers/submit-options';

/** Types of number and numbering plans (SMPP 3.4, 5.2.5 and 5.2.6). */
const INTERNATIONAL = { ton: 1, npi: 1 } as const;
const NATIONAL = { ton: 2, npi: 1 } as const;
const NETWORK_SPECIFIC = { ton: 3, npi: 0 } as const;
const ALPHANUMERIC = { ton: 5, npi: 0 } as const;
const UNKNOWN = { ton: 0, npi: 1 } as const;

const SHORT_CODE = /^[0-9]{3,8}$/;
const DIGITS = /^[0-9]{9,20}$/;

/** The source address of a sender; by default with the TON and NPI of its kind, and without the plus. */
export function senderAddress(source: string, options: AddressOptions = {}): SmppAddress {
  return withNumbering(source.startsWith('+') ? ofNumber(source, options) : ofSender(source), options);
}

/** The destination address of a number, E.164 or as rewritten. */
export function recipientAddress(destination: string, options: AddressOptions = {}): SmppAddress {
  const address = destination.startsWith('+') ? ofNumber(destination, options) : { ...UNKNOWN, value: destination };
  return withNumbering(address, options);
}

function ofSender(source: string): SmppAddress {
  if (SHORT_CODE.test(source)) return { ...NETWORK_SPECIFIC, value: source };
  return DIGITS.test(source) ? { ...UNKNOWN, value: source } : { ...ALPHANUMERIC, value: source };
}

/** A number without a country code stays international. */
function ofNumber(number: string, { form = 'international' }: AddressOptions): SmppAddress {
  if (form === 'plus') return { ...INTERNATIONAL, value: number };
  const digits = form === 'national' ? nationalDigits(number) : null;
  return digits === null ? { ...INTERNATIONAL, value: number.slice(1) } : { ...NATIONAL, value: digits };
}

const withNumbering = (address: SmppAddress, { ton, npi }: AddressOptions): SmppAddress =>
  ton === undefined && npi === undefined
    ? address
    : { ton: ton ?? address.ton, npi: npi ?? address.npi, value: address.value };
