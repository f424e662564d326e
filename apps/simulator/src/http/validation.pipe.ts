import { ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { Refusal } from './refusal.js';

/** Bodies have only the fields that their class declares; the first error is returned. */
export const validationPipe = (): ValidationPipe =>
  new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    exceptionFactory: (errors: ValidationError[]): Refusal => {
      const [first] = errors;
      const [message = 'is not valid'] = Object.values(first?.constraints ?? {});
      return new Refusal(422, 'VALIDATION_ERROR', message, first?.property);
    },
  });
