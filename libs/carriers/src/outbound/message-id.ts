import type { MessageIdBase } from '../config/carrier.js';

const HEXADECIMAL = /^(?:0x)?([0-9a-f]{1,64})$/i;
const DECIMAL = /^[0-9]{1,64}$/;

/** Carriers write one id in two ways: in lower or upper case, with or without the zeros in front. */
export function canonicalId(smscMessageId: string): string {
  return smscMessageId.toLowerCase().replace(/^0+(?=.)/, '');
}

/**
 * How the receipt of a message will spell the id that the response to its submit gave: some carriers write the one in
 * hexadecimal and the other in decimal. An id that is no such number stands as it is.
 */
export function receiptIdOf(smscMessageId: string, base: MessageIdBase): string {
  switch (base) {
    case 'as-is':
      return smscMessageId;
    case 'hex-to-dec': {
      const digits = HEXADECIMAL.exec(smscMessageId)?.[1];
      return digits === undefined ? smscMessageId : BigInt(`0x${digits}`).toString();
    }
    case 'dec-to-hex':
      return DECIMAL.test(smscMessageId) ? BigInt(smscMessageId).toString(16) : smscMessageId;
  }
}
