import { SCOPES } from '@countersign/accounts/accounts';
import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { IsIn, IsString } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import type { JsonObject } from '../../http/json-body.js';
import { ChangeOf, isLine, isListOf, isOneOf, Optional, Satisfies } from '../crud/fields.js';
import { idField } from '../crud/view-fields.js';
import { limitsFault } from './key-limits.js';
import { KEY_FIELDS, MAX_LIMIT_PER_MINUTE } from './key.view.js';

/** The body of POST /v1/admin/keys. */
export class KeyDraft {
  @ApiProperty(idField('acct'))
  @IsString(failsWith('accountId must be a string.'))
  accountId!: string;

  @ApiPropertyOptional({ ...KEY_FIELDS.kind, default: 'live' })
  @IsIn(['live', 'test'], failsWith('kind must be live or test.'))
  kind: 'live' | 'test' = 'live';

  @ApiProperty(KEY_FIELDS.name)
  @Satisfies(isLine(100), 'name must be one line of 1 to 100 characters.')
  name!: string;

  @ApiPropertyOptional(KEY_FIELDS.scopes)
  @Satisfies(
    isListOf(isOneOf(SCOPES), { least: 1 }),
    `scopes must be a list of at least one and different ones of ${SCOPES.join(', ')}.`,
  )
  @Optional()
  scopes?: (typeof SCOPES)[number][];

  @ApiPropertyOptional(KEY_FIELDS.limits)
  @Satisfies(
    (value) => limitsFault(value) === null,
    `limits must be an object of default, create, poll and usage: whole numbers from 1 to ${MAX_LIMIT_PER_MINUTE} a minute.`,
    (value) => limitsFault(value) ?? undefined,
  )
  @Optional()
  limits?: JsonObject;
}

/** The body of PATCH /v1/admin/keys/{id}. `limits` replaces all limits of the key. */
export class KeyChange extends ChangeOf(OmitType(KeyDraft, ['accountId', 'kind'])) {}
