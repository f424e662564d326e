import { SENDER_ID } from '@countersign/accounts/accounts';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsString } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import type { JsonObject } from '../../http/json-body.js';
import { ChangeOf, isText, isUsdOrNumber, isWholeNumber, Nullable, Optional, Satisfies } from '../crud/fields.js';
import { ROUTE_SUBMIT_OPTIONS_FIELD, SubmitOptionsField } from '../crud/submit-options.js';
import { MAX_PRIORITY, MAX_WEIGHT, ROUTE_FIELDS } from './route.view.js';

/** The body of POST /v1/admin/routes. */
export class RouteDraft {
  @ApiProperty(ROUTE_FIELDS.prefix)
  @Satisfies(
    isText(/^\+(?:[1-9][0-9]{0,14})?$/),
    'prefix must be the beginning of numbers in E.164 format: a plus sign and up to 15 digits.',
  )
  prefix!: string;

  @ApiPropertyOptional({
    ...ROUTE_FIELDS.bindId,
    description: 'The bind over which they are sent. Needed unless smppSystemId is given.',
  })
  @IsString(failsWith('bindId must be the id of a bind.'))
  @Nullable()
  bindId?: string | null;

  @ApiPropertyOptional(ROUTE_FIELDS.smppSystemId)
  @IsString(failsWith('smppSystemId must be the id of an SMPP system, or null.'))
  @Nullable()
  smppSystemId?: string | null;

  @ApiPropertyOptional(ROUTE_FIELDS.priority)
  @Satisfies(isWholeNumber(0, MAX_PRIORITY), `priority must be a whole number from 0 to ${MAX_PRIORITY}.`)
  @Optional()
  priority?: number;

  @ApiPropertyOptional(ROUTE_FIELDS.weight)
  @Satisfies(isWholeNumber(1, MAX_WEIGHT), `weight must be a whole number from 1 to ${MAX_WEIGHT}.`)
  @Optional()
  weight?: number;

  @ApiPropertyOptional({
    oneOf: [{ type: 'string' }, { type: 'number', minimum: 0 }],
    description: 'The cost of one message, as a decimal text or a number.',
    default: '0.00',
    example: '0.0079',
  })
  @Satisfies(
    isUsdOrNumber,
    'costUsd must be an amount of US dollars of 0 or more with up to six decimals, such as "0.0079".',
  )
  @Optional()
  costUsd?: string | number;

  @ApiPropertyOptional(ROUTE_FIELDS.sourceAddress)
  @Satisfies(
    isText(SENDER_ID),
    'sourceAddress must be a number in E.164 format, a short code of 3 to 8 digits, up to 11 letters and digits with a letter among them, or null.',
  )
  @Nullable()
  sourceAddress?: string | null;

  @SubmitOptionsField(ROUTE_SUBMIT_OPTIONS_FIELD)
  submitOptions?: JsonObject;

  @ApiPropertyOptional(ROUTE_FIELDS.enabled)
  @IsBoolean(failsWith('enabled must be true or false.'))
  @Optional()
  enabled?: boolean;
}

/** The body of PATCH /v1/admin/routes/{id}. */
export class RouteChange extends ChangeOf(RouteDraft) {}
