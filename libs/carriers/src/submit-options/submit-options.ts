/* A carrier's requirements on a submit_sm, as data: one object on a bind, on a system, and on a route. */

/** The values of the options that have a list of them. */
export const OPTION_VALUES = {
  validityForms: ['relative', 'absolute', 'none'],
  concatenations: ['udh', 'sar', 'message_payload'],
  addressForms: ['international', 'plus', 'national'],
  tlvTypes: ['string', 'cstring', 'hex', 'uint8', 'uint16', 'uint32'],
  rewritten: ['source', 'destination'],
} as const;

type ValueOf<List extends keyof typeof OPTION_VALUES> = (typeof OPTION_VALUES)[List][number];
export type ValidityForm = ValueOf<'validityForms'>;
export type Concatenation = ValueOf<'concatenations'>;
export type AddressForm = ValueOf<'addressForms'>;
export type TlvType = ValueOf<'tlvTypes'>;
export type Rewritten = ValueOf<'rewritten'>;

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

export const OPTION_LIMITS = {
  tlvs: 16,
  tlvOctets: 255,
  rewriteRules: 16,
  rewriteExamples: 8,
  /** Characters of service_type (SMPP 3.4, 5.2.11). */
  serviceType: 5,
  /** Characters of an address (SMPP 3.4, 5.2.8). */
  address: 20,
  /** SMPP 3.4, 5.2.14. */
  priority: 4,
  /** Bits 0 to 4 (SMPP 3.4, 5.2.17). */
  registeredDelivery: 0x1f,
} as const;
