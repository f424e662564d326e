import {
  allOf,
  listOf,
  objectOf,
  oneOf,
  textLike,
  isTrueOrFalse,
  wholeNumber,
  type Check,
  type OptionFault,
} from './checks.js';
import { rewriteFault } from './check-rewrite.js';
import { tlvFault } from './check-tlv.js';
import {
  ADDRESS_FORMS,
  CONCATENATIONS,
  MAX_ADDRESS,
  MAX_PRIORITY,
  MAX_REGISTERED_DELIVERY,
  MAX_REWRITE_EXAMPLES,
  MAX_REWRITE_RULES,
  MAX_SERVICE_TYPE,
  MAX_TLV_OPTIONS,
  REWRITTEN,
  TLV_TYPES,
  VALIDITY_FORMS,
  type SubmitOptions,
} from './submit-options.js';

const OCTET = 0xff;
const MAX_TLV_CHARACTERS = 512;

const anything: Check = () => null;

const address = objectOf({
  ton: wholeNumber(0, OCTET),
  npi: wholeNumber(0, OCTET),
  form: oneOf(ADDRESS_FORMS),
});

const printable = (low: number, high: number): Check =>
  textLike(new RegExp(`^[\\x20-\\x7e]{${low},${high}}$`), `must be ${low} to ${high} printable characters of ASCII`);

const example = objectOf(
  { from: printable(1, MAX_ADDRESS), to: printable(1, MAX_ADDRESS) },
  { required: ['from', 'to'] },
);

const rule = objectOf(
  {
    of: oneOf(REWRITTEN),
    match: printable(1, MAX_ADDRESS),
    exact: isTrueOrFalse,
    replace: printable(0, MAX_ADDRESS),
    examples: listOf(example, MAX_REWRITE_EXAMPLES),
  },
  { required: ['of', 'match', 'replace'] },
);

const tlv = objectOf(
  {
    tag: anything,
    type: oneOf(TLV_TYPES),
    value: (value) =>
      typeof value === 'number' || (typeof value === 'string' && value.length <= MAX_TLV_CHARACTERS)
        ? null
        : { path: [], message: `must be a number, or a text of up to ${MAX_TLV_CHARACTERS} characters` },
  },
  { required: ['tag', 'type', 'value'] },
);

const options = objectOf({
  validityPeriod: oneOf(VALIDITY_FORMS),
  serviceType: printable(0, MAX_SERVICE_TYPE),
  protocolId: wholeNumber(0, OCTET),
  priorityFlag: wholeNumber(0, MAX_PRIORITY),
  registeredDelivery: wholeNumber(0, MAX_REGISTERED_DELIVERY),
  source: address,
  destination: address,
  concatenation: oneOf(CONCATENATIONS),
  tlvs: allOf(listOf(tlv, MAX_TLV_OPTIONS), tlvFault),
  rewrite: allOf(listOf(rule, MAX_REWRITE_RULES), rewriteFault),
});

/** The first fault of submit options as plain JSON values; null for none. Never throws. */
export const submitOptionsFault = (value: unknown): OptionFault | null => options(value);

export const areSubmitOptions = (value: unknown): value is SubmitOptions => submitOptionsFault(value) === null;
