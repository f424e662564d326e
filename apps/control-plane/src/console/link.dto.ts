import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { isText, Optional, Satisfies } from '../admin/crud/fields.js';
import { idField } from '../admin/crud/view-fields.js';

/** The query of GET /console/api/sign-in/link. */
export class LinkQuery {
  @ApiProperty({ type: 'string', description: 'Of the link.', example: 'p4yX0m3pC2m6O4mVqg8kQ1o0n7uJ5r2sT9vW3xYzAbc' })
  @Satisfies(isText(/^[A-Za-z0-9_-]{43}$/), 'token must be that of the link.')
  token!: string;

  @ApiPropertyOptional(idField('acct', { description: 'The account whose quickstart is shown first.' }))
  @Satisfies(isText(/^acct_[0-7][0-9A-HJKMNP-TV-Z]{25}$/), 'account must be the id of an account.')
  @Optional()
  account?: string;
}
