import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Plain } from '../admin/crud/plain.js';
import { MeAnswer } from './me.view.js';
import type { BegunVerification } from './sign-in-verifications.js';

export class PhoneSignInAnswer {
  @ApiProperty({
    type: 'string',
    description: 'The `sms:` link for the button or QR code that opens the message which approves the sign-in.',
    example: 'sms:+14155550199?body=AUTH-CONSOLE-7K9QX2M4TZ',
  })
  readonly fallbackUri!: string;

  @ApiProperty({ type: 'string', description: 'The number to which the message is sent.', example: '+14155550199' })
  readonly inboundNumber!: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-01-31T12:05:00.000Z' })
  readonly expiresAt!: string;
}

export class PhoneSignInState {
  @ApiProperty({ type: 'string', enum: ['pending', 'approved'], example: 'pending' })
  readonly state!: 'pending' | 'approved';

  @ApiPropertyOptional({
    type: 'string',
    format: 'date-time',
    description: 'While `pending`.',
    example: '2026-01-31T12:05:00.000Z',
  })
  readonly expiresAt?: string;

  @ApiPropertyOptional({ type: MeAnswer, description: 'The new session, once `approved`.' })
  readonly me?: MeAnswer;
}

export const begunView = ({ fallbackUri, inboundNumber, expiresAt }: BegunVerification): Plain<PhoneSignInAnswer> => ({
  fallbackUri,
  inboundNumber,
  expiresAt: expiresAt.toISOString(),
});
