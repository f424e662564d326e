import { DESTINATION_ACTIONS, type DestinationAction } from '@countersign/carriers/destinations';
import { RESTRICTED_KINDS, type RestrictedKind } from '@countersign/phone';
import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { IsIn, IsString } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import {
  ChangeOf,
  isInstant,
  isLine,
  isListOf,
  isOneOf,
  isText,
  Nullable,
  Optional,
  Satisfies,
} from '../crud/fields.js';
import { DESTINATION_FIELDS } from './destination.view.js';

const isReason = isLine(200);

/**
 * The body of POST /v1/admin/destinations. Without `accountId` it concerns all accounts, without `until` it does not
 * expire.
 */
export class DestinationDraft {
  @ApiPropertyOptional(DESTINATION_FIELDS.accountId)
  @IsString(failsWith('accountId must be a string or null.'))
  @Nullable()
  accountId?: string | null;

  @ApiProperty(DESTINATION_FIELDS.prefix)
  @Satisfies(
    isText(/^\+[1-9][0-9]{0,14}$/),
    'prefix must be the beginning of numbers in E.164 format: a plus sign and 1 to 15 digits.',
  )
  prefix!: string;

  @ApiProperty(DESTINATION_FIELDS.action)
  @IsIn([...DESTINATION_ACTIONS], failsWith('action must be allow or block.'))
  action!: DestinationAction;

  @ApiPropertyOptional(DESTINATION_FIELDS.kinds)
  @Satisfies(
    isListOf(isOneOf(RESTRICTED_KINDS)),
    `kinds must be a list of different kinds of numbers among ${RESTRICTED_KINDS.join(', ')}.`,
  )
  @Optional()
  kinds?: readonly RestrictedKind[];

  @ApiPropertyOptional(DESTINATION_FIELDS.reason)
  @Satisfies((value) => value === '' || isReason(value), 'reason must be one line of at most 200 characters.')
  @Optional()
  reason?: string;

  @ApiPropertyOptional(DESTINATION_FIELDS.until)
  @Satisfies(isInstant, 'until must be a time with its offset, such as 2026-01-31T00:00:00Z (RFC 3339), or null.')
  @Nullable()
  until?: string | null;
}

/** The body of PATCH /v1/admin/destinations/{id}. */
export class DestinationChange extends ChangeOf(OmitType(DestinationDraft, ['accountId'])) {}
