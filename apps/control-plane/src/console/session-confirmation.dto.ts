import { ApiProperty } from '@nestjs/swagger';
import { isText, Satisfies } from '../admin/crud/fields.js';

/** The body of POST /console/api/sessions/current/confirm. */
export class SessionConfirmation {
  @ApiProperty({
    type: 'string',
    description: 'A live API key of the account. It is compared, and not kept.',
    example: 'csk_live_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEX000000',
  })
  @Satisfies(isText(/^[\x21-\x7e]{1,200}$/), 'key must be a live API key of the account.')
  key!: string;
}
