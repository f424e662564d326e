import {
  areSubmitOptions,
  NO_OPTIONS,
  OPTION_LIMITS,
  OPTION_VALUES,
  submitOptionsFault,
  type RewriteRule,
  type SubmitOptions,
} from '@countersign/carriers/submit-options';
import { maskPhone } from '@countersign/phone';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import type { JsonObject, JsonValue } from '../../http/json-body.js';
import { Optional } from './fields.js';
import { maskText, maskTlv } from './people.js';
import { asciiPattern } from './smpp-fields.js';

/* The field `submitOptions` of binds, systems and routes: the carrier's requirements on a submit_sm. */

const octetField = (description: string): ApiPropertyOptions => {
  return { type: 'integer', minimum: 0, maximum: 0xff, description };
};

export class SubmitAddressOptions {
  @ApiPropertyOptional(octetField('Type of number. Default: that of the kind of address.'))
  readonly ton?: number;

  @ApiPropertyOptional(octetField('Numbering plan. Default: that of the kind of address.'))
  readonly npi?: number;

  @ApiPropertyOptional({
    type: 'string',
    enum: [...OPTION_VALUES.addressForms],
    default: 'international',
    description:
      'How a number with a country code is written: digits without the plus, with the plus, or without the country code.',
  })
  readonly form?: string;
}

export class SubmitTlv {
  @ApiProperty({
    oneOf: [{ type: 'integer', minimum: 0, maximum: 0xffff }, { type: 'string' }],
    description:
      'A number, a text such as `0x1400`, the name of a TLV of SMPP such as `user_message_reference`, or `dlt_principal_entity_id`, `dlt_template_id`, `dlt_telemarketer_chain`.',
    example: '0x1400',
  })
  readonly tag!: number | string;

  @ApiProperty({ type: 'string', enum: [...OPTION_VALUES.tlvTypes], description: '`cstring` ends with a NUL.' })
  readonly type!: string;

  @ApiProperty({
    oneOf: [{ type: 'integer', minimum: 0 }, { type: 'string' }],
    description:
      'A number for `uint…`, hexadecimal digits for `hex`, else a text of ASCII. In a text the words `brand`, `sender`, `country` and `messageId` in double braces are replaced by those of the message.',
    example: '1701158019811140068',
  })
  readonly value!: number | string;
}

export class SubmitRewriteExample {
  @ApiProperty({ type: 'string', pattern: asciiPattern(1, OPTION_LIMITS.address), example: '+447400123456' })
  readonly from!: string;

  @ApiProperty({ type: 'string', pattern: asciiPattern(1, OPTION_LIMITS.address), example: '07400123456' })
  readonly to!: string;
}

export class SubmitRewriteRule {
  @ApiProperty({ type: 'string', enum: [...OPTION_VALUES.rewritten] })
  readonly of!: string;

  @ApiProperty({
    type: 'string',
    pattern: asciiPattern(1, OPTION_LIMITS.address),
    description:
      'The beginning of longer numbers, with the plus or without, or with `exact` the whole address. The first rule that matches is applied.',
    example: '+44',
  })
  readonly match!: string;

  @ApiPropertyOptional({ type: 'boolean', default: false })
  readonly exact?: boolean;

  @ApiProperty({ type: 'string', pattern: asciiPattern(0, OPTION_LIMITS.address), example: '0' })
  readonly replace!: string;

  @ApiPropertyOptional({
    type: SubmitRewriteExample,
    isArray: true,
    maxItems: OPTION_LIMITS.rewriteExamples,
    description: 'Checked when the rules are saved: this rule must make `to` of `from`. `form` is applied afterwards.',
  })
  readonly examples?: readonly SubmitRewriteExample[];
}

export class SubmitOptionsAnswer {
  @ApiPropertyOptional({
    type: 'string',
    enum: [...OPTION_VALUES.validityForms],
    default: 'relative',
    description: 'The form of `validity_period`, which ends with the session; `none` leaves it empty.',
  })
  readonly validityPeriod?: string;

  @ApiPropertyOptional({ type: 'string', pattern: asciiPattern(0, OPTION_LIMITS.serviceType), default: '' })
  readonly serviceType?: string;

  @ApiPropertyOptional({ ...octetField('`protocol_id`.'), default: 0 })
  readonly protocolId?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: OPTION_LIMITS.priority,
    default: 0,
    description: '`priority_flag`.',
  })
  readonly priorityFlag?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: OPTION_LIMITS.registeredDelivery,
    default: 1,
    description: '`registered_delivery` of the last part; 0 asks for no receipt, and the codes stay `submitted`.',
  })
  readonly registeredDelivery?: number;

  @ApiPropertyOptional({ type: SubmitAddressOptions })
  readonly source?: SubmitAddressOptions;

  @ApiPropertyOptional({ type: SubmitAddressOptions })
  readonly destination?: SubmitAddressOptions;

  @ApiPropertyOptional({
    type: 'string',
    enum: [...OPTION_VALUES.concatenations],
    default: 'udh',
    description: 'How a text longer than one SMS is sent.',
  })
  readonly concatenation?: string;

  @ApiPropertyOptional({ type: SubmitTlv, isArray: true, maxItems: OPTION_LIMITS.tlvs, default: [] })
  readonly tlvs?: readonly SubmitTlv[];

  @ApiPropertyOptional({ type: SubmitRewriteRule, isArray: true, maxItems: OPTION_LIMITS.rewriteRules, default: [] })
  readonly rewrite?: readonly SubmitRewriteRule[];
}

const DESCRIPTION =
  'The carrier’s requirements on a submit_sm; `{}` for the defaults. A change replaces the stored object. [Examples](/docs/carrier-requirements).';

export const SUBMIT_OPTIONS_FIELD = {
  type: SubmitOptionsAnswer,
  default: {},
  description: DESCRIPTION,
  example: { validityPeriod: 'absolute' },
} as const satisfies ApiPropertyOptions;

export const ROUTE_SUBMIT_OPTIONS_FIELD = {
  ...SUBMIT_OPTIONS_FIELD,
  description: `${DESCRIPTION} Each key replaces that of the bind.`,
} as const satisfies ApiPropertyOptions;

/** A value of a body as a plain value. */
const plainOf = (value: JsonValue): unknown => {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(plainOf);
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...(value as JsonObject)].map(([name, member]) => [name, plainOf(member)]));
};

const faultOf = (value: unknown) => submitOptionsFault(plainOf(value as JsonValue));

/** The optional field of a body. Its refusal names the faulty member. */
export const SubmitOptionsField =
  (field: ApiPropertyOptions): PropertyDecorator =>
  (target, property) => {
    ApiPropertyOptional(field)(target, property);
    const options = failsWith('submitOptions must be an object.', {
      within: (value) => faultOf(value)?.path.join('.') || undefined,
      explain: (value) => {
        const { path, message } = faultOf(value) ?? { path: [], message: 'must be an object' };
        return `${['submitOptions', ...path].join('.')} ${message}.`;
      },
    });
    const validator = { validate: (value: unknown) => faultOf(value) === null };
    ValidateBy({ name: 'submitOptions', validator }, options)(target, property);
    Optional()(target, property);
  };

/** The stored form of a checked field. */
export function storedSubmitOptions(sent: JsonObject | undefined): { readonly submitOptions?: SubmitOptions } {
  if (sent === undefined) return {};
  const options = plainOf(sent);
  return { submitOptions: areSubmitOptions(options) ? options : NO_OPTIONS };
}

const maskedRule = ({ match, replace, examples, ...rule }: RewriteRule): RewriteRule => ({
  ...rule,
  match: maskText(match),
  replace: maskText(replace),
  ...(examples === undefined
    ? {}
    : { examples: examples.map(({ from, to }) => ({ from: maskPhone(from), to: maskPhone(to) })) }),
});

/** Without people's data: values of TLVs, rules and their examples may contain whole phone numbers. */
export function withoutPersonInOptions<View extends { readonly submitOptions: SubmitOptions }>(view: View): View {
  const { rewrite, tlvs } = view.submitOptions;
  if (rewrite === undefined && tlvs === undefined) return view;
  const masked = {
    ...(tlvs === undefined ? {} : { tlvs: tlvs.map(maskTlv) }),
    ...(rewrite === undefined ? {} : { rewrite: rewrite.map(maskedRule) }),
  };
  return { ...view, submitOptions: { ...view.submitOptions, ...masked } };
}
