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
  OPTION_LIMITS,
  OPTION_VALUES,
  type AddressOptions,
  type RewriteExample,
  type RewriteRule,
  type SubmitOptions,
  type TlvOption,
} from './submit-options.js';

const OCTET = 0xff;
const MAX_TLV_CHARACTERS = 512;

/** A check of each member of an object. */
type MemberChecks<Members> = Readonly<Record<keyof Members, Check>>;

const anything: Check = () => null;

const address = objectOf({
  ton: wholeNumber(0, OCTET),
  npi: wholeNumber(0, OCTET),
  form: oneOf(OPTION_VALUES.addressForms),
} satisfies MemberChecks<AddressOptions>);

const printable = (low: number, high: number): Check =>
  textLike(new RegExp(`^[\\x20-\\x7e]{${low},${high}}$`), `must be ${low} to ${high} printable characters of ASCII`);

const example = objectOf(
  {
    from: printable(1, OPTION_LIMITS.address),
    to: printable(1, OPTION_LIMITS.address),
  } satisfies MemberChecks<RewriteExample>,
  { required: ['from', 'to'] },
);

const rule = objectOf(
  {
    of: oneOf(OPTION_VALUES.rewritten),
    match: printable(1, OPTION_LIMITS.address),
    exact: isTrueOrFalse,
    replace: printable(0, OPTION_LIMITS.address),
    examples: listOf(example, OPTION_LIMITS.rewriteExamples),
  } satisfies MemberChecks<RewriteRule>,
  { required: ['of', 'match', 'replace'] },
);

const tlv = objectOf(
  {
    tag: anything,
    type: oneOf(OPTION_VALUES.tlvTypes),
    value: (value) =>
      typeof value === 'number' || (typeof value === 'string' && value.length <= MAX_TLV_CHARACTERS)
        ? null
        : { path: [], message: `must be a number, or a text of up to ${MAX_TLV_CHARACTERS} characters` },
  } satisfies MemberChecks<TlvOption>,
  { required: ['tag', 'type', 'value'] },
);

const options = objectOf({
  validityPeriod: oneOf(OPTION_VALUES.validityForms),
  serviceType: printable(0, OPTION_LIMITS.serviceType),
  protocolId: wholeNumber(0, OCTET),
  priorityFlag: wholeNumber(0, OPTION_LIMITS.priority),
  registeredDelivery: wholeNumber(0, OPTION_LIMITS.registeredDelivery),
  source: address,
  destination: address,
  concatenation: oneOf(OPTION_VALUES.concatenations),
  tlvs: allOf(listOf(tlv, OPTION_LIMITS.tlvs), tlvFault),
  rewrite: allOf(listOf(rule, OPTION_LIMITS.rewriteRules), rewriteFault),
} satisfies MemberChecks<SubmitOptions>);

/** The first fault of submit options as plain JSON values; null for none. Never throws. */
export const submitOptionsFault = (value: unknown): OptionFault | null => options(value);

export const areSubmitOptions = (value: unknown): value is SubmitOptions => submitOptionsFault(value) === null;
