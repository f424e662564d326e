import { SENDER_ID } from '@countersign/accounts/accounts';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import { IsRoutablePhone } from '../../verify/phone.constraint.js';
import { isText, Optional, Satisfies } from '../crud/fields.js';

/** The body of POST /v1/admin/binds/{id}/test-messages. */
export class TestMessageDraft {
  @ApiProperty({
    pattern: '^\\+[1-9][0-9]{1,14}$',
    description: 'The phone, E.164: a number that can exist, and none of a kind that earns its holder money.',
    example: '+14155552671',
  })
  @IsRoutablePhone(failsWith('to must be a routable number in E.164 format.', { code: 'INVALID_PHONE' }))
  @IsString(failsWith('to must be a string.'))
  to!: string;

  @ApiPropertyOptional({
    pattern: SENDER_ID.source,
    description:
      'The sender: a number in E.164 format, a short code, or up to 11 letters and digits. By default the number to which a phone of the country would send.',
    example: '60606',
  })
  @Satisfies(
    isText(SENDER_ID),
    'from must be a number in E.164 format, a short code of 3 to 8 digits, or up to 11 letters and digits with a letter among them.',
  )
  @Optional()
  from?: string;
}
