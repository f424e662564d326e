import { maskPhone } from '@countersign/phone';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Plain } from '../admin/crud/plain.js';
import { MeAnswer } from './me.view.js';
import { begunView, PhoneSignInAnswer } from './phone-sign-in.view.js';
import type { BegunVerification } from './sign-in-verifications.js';

export class SecondStepAnswer extends PhoneSignInAnswer {
  @ApiProperty({ type: 'string', description: 'The phone to verify, masked.', example: '+141******71' })
  readonly phone!: string;
}

export class SecondStepState {
  @ApiProperty({ type: 'string', enum: ['pending', 'approved'], example: 'pending' })
  readonly state!: 'pending' | 'approved';

  @ApiPropertyOptional({ type: SecondStepAnswer, description: 'While `pending`.' })
  readonly secondStep?: SecondStepAnswer;

  @ApiPropertyOptional({ type: MeAnswer, description: 'The new session, once `approved`.' })
  readonly me?: MeAnswer;
}

export const secondStepView = (verification: BegunVerification): Plain<SecondStepAnswer> => ({
  ...begunView(verification),
  phone: maskPhone(verification.phone),
});
