import metadata from 'libphonenumber-js/max/metadata';

/** Indexes in the list that libphonenumber's metadata (version 4) has for a country. */
const NATIONAL_PATTERN = 2;
const NATIONAL_PREFIX = 5;
const PREFIX_FOR_PARSING = 7;
const LEADING_DIGITS = 10;
const NUMBER_TYPES = 11;

/** Country codes have one to three digits (ITU-T E.164), and none begins with another. */
const MAX_CODE_DIGITS = 3;

interface NumberType {
  readonly pattern: RegExp;
  /** Null for every length. */
  readonly lengths: ReadonlySet<number> | null;
}

interface NumberingPlan {
  readonly country: string;
  readonly pattern: RegExp;
  /** With which the numbers of this country begin, where several share a country code. */
  readonly leadingDigits: RegExp | null;
  /** Null where the metadata has none. */
  readonly types: readonly NumberType[] | null;
}

interface CountryCode {
  readonly plans: readonly NumberingPlan[];
  /** The prefix that the library may strip from a national number. */
  readonly prefix: RegExp | null;
}

/** Compiled as they are needed; null for what is no country code. */
const codes = new Map<string, CountryCode | null>();

/**
 * The country of a number that is valid and canonical by the patterns of libphonenumber's metadata, in a twentieth of the time of
 * the library. Null is no verdict: the library decides.
 *
 * @param e164 a plus sign and digits
 */
export function countryByPlan(e164: string): string | null {
  for (let digits = 1; digits <= MAX_CODE_DIGITS; digits += 1) {
    const code = countryCode(e164.slice(1, 1 + digits));
    if (code !== null) return countryIn(code, e164.slice(1 + digits));
  }
  return null;
}

function countryIn({ plans, prefix }: CountryCode, national: string): string | null {
  if (prefix?.test(national) === true) return null;
  const [only, ...others] = plans;
  const plan = others.length === 0 ? only : plans.find((each) => covers(each, national));
  return plan !== undefined && isValid(plan, national) ? plan.country : null;
}

/** Whether a number belongs to the plan, if not to an earlier one of the same country code. */
const covers = (plan: NumberingPlan, national: string): boolean =>
  plan.leadingDigits === null ? plan.types !== null && isValid(plan, national) : plan.leadingDigits.test(national);

const isValid = ({ pattern, types }: NumberingPlan, national: string): boolean =>
  pattern.test(national) && (types === null || types.some((type) => isOfType(type, national)));

const isOfType = ({ pattern, lengths }: NumberType, national: string): boolean =>
  (lengths === null || lengths.has(national.length)) && pattern.test(national);

function countryCode(digits: string): CountryCode | null {
  let code = codes.get(digits);
  if (code === undefined) {
    code = compile(digits);
    codes.set(digits, code);
  }
  return code;
}

type List = readonly unknown[];

/** The package's own types do not describe the lists. */
const { country_calling_codes: callingCodes, countries } = metadata as unknown as {
  readonly country_calling_codes: Readonly<Record<string, readonly string[]>>;
  readonly countries: Readonly<Record<string, List>>;
};

function compile(digits: string): CountryCode | null {
  const found = Object.hasOwn(callingCodes, digits) ? callingCodes[digits] : undefined;
  const main = countries[found?.[0] ?? ''];
  if (found === undefined || main === undefined) return null;
  const prefix = textAt(main, PREFIX_FOR_PARSING) ?? textAt(main, NATIONAL_PREFIX);
  return {
    plans: found.map((country) => planOf(country, countries[country] ?? [])),
    prefix: prefix === null ? null : new RegExp(`^(?:${prefix})`),
  };
}

function planOf(country: string, list: List): NumberingPlan {
  const leadingDigits = textAt(list, LEADING_DIGITS);
  const types: unknown = list[NUMBER_TYPES];
  return {
    country,
    pattern: entirely(textAt(list, NATIONAL_PATTERN) ?? ''),
    leadingDigits: leadingDigits === null ? null : new RegExp(`^(?:${leadingDigits})`),
    types: Array.isArray(types) ? types.flatMap((type: unknown) => typeOf(type)) : null,
  };
}

/** Empty for a type that the country does not have. */
function typeOf(type: unknown): NumberType[] {
  if (!Array.isArray(type)) return [];
  const pattern = textAt(type, 0);
  const lengths: unknown = type[1];
  if (pattern === null) return [];
  return [{ pattern: entirely(pattern), lengths: Array.isArray(lengths) ? new Set(lengths as number[]) : null }];
}

const entirely = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`);

function textAt(list: List, index: number): string | null {
  const text = list[index];
  return typeof text === 'string' && text !== '' ? text : null;
}
