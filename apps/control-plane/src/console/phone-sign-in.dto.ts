import { ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { failsWith } from '../http/compiled-validator.js';
import { IsRoutablePhone } from '../verify/phone.constraint.js';

/** The body of POST /console/api/sign-in/phone. */
export class PhoneSignInStart {
  @ApiProperty({ pattern: '^\\+[1-9][0-9]{1,14}$', description: 'E.164.', example: '+14155552671' })
  @IsRoutablePhone(failsWith('phone must be a routable number in E.164 format.', { code: 'INVALID_PHONE' }))
  @IsString(failsWith('phone must be a string.'))
  phone!: string;
}
