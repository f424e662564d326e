import { LINK_ALPHABETS, type LinkAlphabet, MESSAGE_ID_BASES, type MessageIdBase } from '@countersign/carriers/config';
import type { SubmitOptions } from '@countersign/carriers/submit-options';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import type { JsonObject } from '../../http/json-body.js';
import { isListOf, isWholeNumber, Optional, Satisfies } from './fields.js';
import type { Plain } from './plain.js';
import { isErrorStatus, SMPP_FIELDS } from './smpp-fields.js';
import { SUBMIT_OPTIONS_FIELD, SubmitOptionsField } from './submit-options.js';

/* The settings of a link that binds and systems share. */

const MAX_STATUSES = 64;

/** Inclusive ranges of whole numbers. */
const LINK_RANGES = {
  window: [1, 1_000],
  enquireLinkSeconds: [1, 3_600],
  responseTimeoutSeconds: [1, 300],
} as const;

interface WholeField {
  readonly default: number;
  readonly description: string;
}

/** The documentation of a whole number in a range. */
export const wholeField = ([minimum, maximum]: readonly [number, number], more: WholeField): ApiPropertyOptions => {
  return { type: 'integer', minimum, maximum, ...more };
};

export const LINK_FIELDS = {
  window: wholeField(LINK_RANGES.window, { default: 10, description: 'Maximum unanswered requests per connection.' }),
  enquireLinkSeconds: wholeField(LINK_RANGES.enquireLinkSeconds, {
    default: 30,
    description: 'Silence before an enquire_link.',
  }),
  responseTimeoutSeconds: wholeField(LINK_RANGES.responseTimeoutSeconds, {
    default: 10,
    description: 'Time for the carrier to answer a request.',
  }),
  defaultAlphabet: {
    type: 'string',
    enum: [...LINK_ALPHABETS],
    default: 'gsm',
    description: 'The meaning of `data_coding` 0 for this carrier.',
  },
  messageIdBase: {
    type: 'string',
    enum: [...MESSAGE_ID_BASES],
    default: 'as-is',
    description:
      'The spelling of message ids in its receipts relative to its responses: `hex-to-dec` when the responses are hexadecimal.',
  },
  temporaryStatuses: {
    type: 'array',
    items: SMPP_FIELDS.status,
    maxItems: MAX_STATUSES,
    default: [8, 20, 88],
    description: 'Command statuses after which a code is retried.',
    example: [8, 20, 88],
  },
  retryableMoStatus: {
    ...SMPP_FIELDS.status,
    default: 20,
    description: 'The command status that makes this carrier send an MO again later.',
  },
} as const satisfies Record<string, ApiPropertyOptions>;

/** An optional whole number in its range. */
export const Ranged =
  (field: ApiPropertyOptions, [low, high]: readonly [number, number]): PropertyDecorator =>
  (target, property) => {
    ApiPropertyOptional(field)(target, property);
    const message = `${String(property)} must be a whole number from ${low} to ${high}.`;
    Satisfies(isWholeNumber(low, high), message)(target, property);
    Optional()(target, property);
  };

/** An optional field with one of the given values. */
export const OneOf =
  (field: ApiPropertyOptions, words: readonly string[]): PropertyDecorator =>
  (target, property) => {
    ApiPropertyOptional(field)(target, property);
    IsIn([...words], failsWith(`${String(property)} must be one of ${words.join(', ')}.`))(target, property);
    Optional()(target, property);
  };

/** These settings in a body. */
export abstract class LinkSettingsDraft {
  @Ranged(LINK_FIELDS.window, LINK_RANGES.window)
  window?: number;

  @Ranged(LINK_FIELDS.enquireLinkSeconds, LINK_RANGES.enquireLinkSeconds)
  enquireLinkSeconds?: number;

  @Ranged(LINK_FIELDS.responseTimeoutSeconds, LINK_RANGES.responseTimeoutSeconds)
  responseTimeoutSeconds?: number;

  @OneOf(LINK_FIELDS.defaultAlphabet, LINK_ALPHABETS)
  defaultAlphabet?: LinkAlphabet;

  @OneOf(LINK_FIELDS.messageIdBase, MESSAGE_ID_BASES)
  messageIdBase?: MessageIdBase;

  @ApiPropertyOptional(LINK_FIELDS.temporaryStatuses)
  @Satisfies(
    isListOf(isErrorStatus, { most: MAX_STATUSES }),
    `temporaryStatuses must be a list of up to ${MAX_STATUSES} different command statuses: whole numbers from 1.`,
  )
  @Optional()
  temporaryStatuses?: readonly number[];

  @ApiPropertyOptional(LINK_FIELDS.retryableMoStatus)
  @Satisfies(isErrorStatus, 'retryableMoStatus must be a command status: a whole number from 1.')
  @Optional()
  retryableMoStatus?: number;

  @SubmitOptionsField(SUBMIT_OPTIONS_FIELD)
  submitOptions?: JsonObject;
}

/** These settings in an answer. */
export abstract class LinkSettingsAnswer {
  @ApiProperty(LINK_FIELDS.window)
  readonly window!: number;

  @ApiProperty(LINK_FIELDS.enquireLinkSeconds)
  readonly enquireLinkSeconds!: number;

  @ApiProperty(LINK_FIELDS.responseTimeoutSeconds)
  readonly responseTimeoutSeconds!: number;

  @ApiProperty(LINK_FIELDS.defaultAlphabet)
  readonly defaultAlphabet!: string;

  @ApiProperty(LINK_FIELDS.messageIdBase)
  readonly messageIdBase!: string;

  @ApiProperty(LINK_FIELDS.temporaryStatuses)
  readonly temporaryStatuses!: readonly number[];

  @ApiProperty(LINK_FIELDS.retryableMoStatus)
  readonly retryableMoStatus!: number;

  @ApiProperty(SUBMIT_OPTIONS_FIELD)
  readonly submitOptions!: SubmitOptions;
}

/** The rows' columns of these settings. */
interface LinkSettingsRow extends Omit<Plain<LinkSettingsAnswer>, 'window'> {
  readonly sendWindow: number;
}

export function linkSettings(link: LinkSettingsRow): Plain<LinkSettingsAnswer> {
  return {
    window: link.sendWindow,
    enquireLinkSeconds: link.enquireLinkSeconds,
    responseTimeoutSeconds: link.responseTimeoutSeconds,
    defaultAlphabet: link.defaultAlphabet,
    messageIdBase: link.messageIdBase,
    temporaryStatuses: link.temporaryStatuses,
    retryableMoStatus: link.retryableMoStatus,
    submitOptions: link.submitOptions,
  };
}

/** Converts the setting whose column has another name. */
export const storedWindow = (window: number | undefined): { sendWindow?: number } =>
  window === undefined ? {} : { sendWindow: window };
