/* A carrier's requirements on a submit_sm, as data: one object on a bind, on a system, and on a route. */

export const VALIDITY_FORMS = ['relative', 'absolute', 'none'] as const;
export const CONCATENATIONS = ['udh', 'sar', 'message_payload'] as const;
export const ADDRESS_FORMS = ['international', 'plus', 'national'] as const;
export const TLV_TYPES = ['string', 'cstring', 'hex', 'uint8', 'uint16', 'uint32'] as const;
export const REWRITTEN = ['source', 'destination'] as const;

export type ValidityForm = (typeof VALIDITY_FORMS)[number];
export type Concatenation = (typeof CONCATENATIONS)[number];
export type AddressForm = (typeof ADDRESS_FORMS)[number];
export type TlvType = (typeof TLV_TYPES)[number];
export type Rewritten = (typeof REWRITTEN)[number];

/** Without `ton` or `npi`, that of the kind of address. */
export interface AddressOptions {
  readonly ton?: number;
  readonly npi?: number;
  /** Of an address that begins with a plus. Default: `international`, digits without the plus. */
  readonly form?: AddressForm;
}

export interface TlvOption {
  /** A number, a text such as `0x1400`, or a name (see `tagOf`). */
  readonly tag: number | string;
  readonly type: TlvType;
  /** A number for `uint…`; a text for `string` and `cstring`, with placeholders; hexadecimal digits for `hex`. */
  readonly value: number | string;
}

export interface RewriteExample {
  readonly from: string;
  readonly to: string;
}

/** The first rule that matches replaces the prefix, or the whole address if it is `exact`. */
export interface RewriteRule {
  readonly of: Rewritten;
  readonly match: string;
  readonly exact?: boolean;
  readonly replace: string;
  /** Checked when the options are saved. */
  readonly examples?: readonly RewriteExample[];
}

export interface SubmitOptions {
  readonly validityPeriod?: ValidityForm;
  readonly serviceType?: string;
  readonly protocolId?: number;
  readonly priorityFlag?: number;
  readonly registeredDelivery?: number;
  readonly source?: AddressOptions;
  readonly destination?: AddressOptions;
  readonly concatenation?: Concatenation;
  readonly tlvs?: readonly TlvOption[];
  readonly rewrite?: readonly RewriteRule[];
}

export const NO_OPTIONS: SubmitOptions = Object.freeze({});

export const MAX_TLV_OPTIONS = 16;
export const MAX_TLV_OCTETS = 255;
export const MAX_REWRITE_RULES = 16;
export const MAX_REWRITE_EXAMPLES = 8;
/** Characters of service_type (SMPP 3.4, 5.2.11). */
export const MAX_SERVICE_TYPE = 5;
/** Characters of an address (SMPP 3.4, 5.2.8). */
export const MAX_ADDRESS = 20;
/** SMPP 3.4, 5.2.14. */
export const MAX_PRIORITY = 4;
/** Bits 0 to 4 (SMPP 3.4, 5.2.17). */
export const MAX_REGISTERED_DELIVERY = 0x1f;
