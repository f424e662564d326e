import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import { IsRoutablePhone } from '../../verify/phone.constraint.js';
import { Optional } from '../crud/fields.js';

/** The body of POST /v1/admin/routes/resolve. */
export class ResolveRoute {
  @ApiProperty({
    pattern: '^\\+[1-9][0-9]{1,14}$',
    description: 'E.164, a number that can exist. Not one of the magic test numbers.',
    example: '+14155552671',
  })
  @IsRoutablePhone(failsWith('phone must be a routable number in E.164 format.', { code: 'INVALID_PHONE' }))
  @IsString(failsWith('phone must be a string.'))
  phone!: string;

  @ApiPropertyOptional({
    description:
      'An active brand: its account decides what the guard allows, and it decides the sender. Without it only the rules for all accounts are judged.',
    example: 'brd_01HF7YAT000000000000000003',
  })
  @IsString(failsWith('brandId must be the id of a brand.'))
  @Optional()
  brandId?: string;
}
