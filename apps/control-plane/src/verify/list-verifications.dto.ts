import { SESSION_STATUSES, type SessionStatus } from '@countersign/session/rules';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, Matches, ValidateIf } from 'class-validator';
import { failsWith } from '../http/compiled-validator.js';
import { PageFormat } from '../http/csv-answer.js';

const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;

const wasSent = (_query: object, value: unknown): boolean => value !== undefined;

/** The query of GET /v1/verify. All values of a query are strings. */
export class ListVerifications {
  @ApiPropertyOptional({ enum: SESSION_STATUSES, description: 'Only sessions with this status now.' })
  @IsIn(SESSION_STATUSES, failsWith('status must be pending, approved, expired, denied or cancelled.'))
  @ValidateIf(wasSent)
  status?: SessionStatus;

  /** An unescaped plus sign decodes to a space, so a leading space is accepted as a plus sign. */
  @ApiPropertyOptional({
    description: 'Only sessions of this number, E.164; write its plus sign as `%2B`.',
    example: '+14155552671',
  })
  @Matches(/^[+ ][1-9][0-9]{1,14}$/, failsWith('phone must be in E.164 format.', { code: 'INVALID_PHONE' }))
  @ValidateIf(wasSent)
  phone?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE })
  @Matches(/^(?:[1-9][0-9]?|100)$/, failsWith(`limit must be a whole number from 1 to ${MAX_PAGE}.`))
  limit: string = String(DEFAULT_PAGE);

  @ApiPropertyOptional({
    description:
      'The last id of the previous page, or its `nextStartingAfter` if it has one: the answer holds older sessions.',
    example: 'sess_01HF7YAT000000000000000001',
  })
  @Matches(/^sess_[0-7][0-9A-HJKMNP-TV-Z]{25}$/, failsWith('startingAfter must be the id of a session.'))
  @ValidateIf(wasSent)
  startingAfter?: string;

  @PageFormat()
  format?: 'json' | 'csv';
}
