import { ApiProperty } from '@nestjs/swagger';
import { IsString, Matches } from 'class-validator';
import { failsWith } from '../http/compiled-validator.js';

const CODE = failsWith('code must be a string of 6 digits.');

/** The body of POST /v1/verify/{id}/check (specification 4.4). An invalid body does not count as an attempt. */
export class CheckCode {
  @ApiProperty({ pattern: '^[0-9]{6}$', description: 'As the user typed it, with leading zeros.', example: '042137' })
  @Matches(/^[0-9]{6}$/, CODE)
  @IsString(CODE)
  code!: string;
}
