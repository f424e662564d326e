import type { MessageIdBase } from '../config/carrier.js';

const HEXADECIMAL = /^(?:0x)?([0-9a-f]{1,64})$/i;
const DECIMAL = /^[0-9]{1,64}$/;

/** Normalises a carrier's id: carriers write it in lower or upper case, with or without leading zeros. */
export function canonicalId(smscMessageId: string): string {
  return smscMessageId.toLowerCase().replace(/^0+(?=.)/, '');
}

/**
 * The spelling of a message id in its receipt, from the id in the submit_sm_resp: some carriers write one in
 * hexadecimal and the other in decimal. An id that is not such a number is returned unchanged.
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
