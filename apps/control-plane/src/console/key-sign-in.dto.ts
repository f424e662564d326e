import { ApiProperty } from '@nestjs/swagger';
import { isText, Satisfies } from '../admin/crud/fields.js';

/** The body of POST /console/api/sign-in/key. */
export class KeySignIn {
  @ApiProperty({
    type: 'string',
    description: 'An admin key, or that of the environment.',
    example: 'csk_admin_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEX000000',
  })
  @Satisfies(isText(/^[\x21-\x7e]{1,200}$/), 'key must be an admin key.')
  key!: string;
}
