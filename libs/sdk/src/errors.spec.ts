import { describe, expect, it } from 'vitest';
import {
  ApiError,
  apiErrorOf,
  AuthenticationError,
  ConflictError,
  CountersignError,
  InvalidCodeError,
  InvalidRequestError,
  LimitError,
  NotFoundError,
  PermissionError,
  ServiceError,
  type ErrorCode,
} from './errors.js';

/** Every documented code (specification 7; contract, Errors). */
const CLASSES: Readonly<Record<ErrorCode, { readonly name: string }>> = {
  UNAUTHORIZED: AuthenticationError,
  FORBIDDEN: PermissionError,
  HTTPS_REQUIRED: PermissionError,
  CONFIRMATION_REQUIRED: PermissionError,
  SMS_OTP_DISABLED: PermissionError,
  DESTINATION_BLOCKED: PermissionError,
  SESSION_NOT_FOUND: NotFoundError,
  NOT_FOUND: NotFoundError,
  SESSION_NOT_PENDING: ConflictError,
  SESSION_NOT_APPROVED: ConflictError,
  SESSION_CONSUMED: ConflictError,
  OTP_NOT_SENT: ConflictError,
  IDEMPOTENCY_IN_PROGRESS: ConflictError,
  CONFLICT: ConflictError,
  MALFORMED_REQUEST: InvalidRequestError,
  METHOD_NOT_ALLOWED: InvalidRequestError,
  PAYLOAD_TOO_LARGE: InvalidRequestError,
  UNSUPPORTED_MEDIA_TYPE: InvalidRequestError,
  VALIDATION_ERROR: InvalidRequestError,
  INVALID_PHONE: InvalidRequestError,
  INVALID_BRAND: InvalidRequestError,
  INVALID_WEBHOOK_URL: InvalidRequestError,
  IDEMPOTENCY_KEY_REUSED: InvalidRequestError,
  INVALID_CODE: InvalidCodeError,
  RATE_LIMITED: LimitError,
  TOO_MANY_ATTEMPTS: LimitError,
  SEND_LIMIT_REACHED: LimitError,
  INTERNAL_ERROR: ServiceError,
  SERVICE_UNAVAILABLE: ServiceError,
};

const ANSWER = {
  status: 422,
  message: 'Three attempts are left.',
  field: 'code',
  docUrl: 'https://localhost:8443/docs/errors/INVALID_CODE',
  requestId: 'req_1',
  retryAfterSeconds: 3,
  attemptsRemaining: 2,
};

describe('an error', () => {
  it.each(Object.entries(CLASSES))('%s has the class of its kind', (code, { name }) => {
    const error = apiErrorOf(code, ANSWER);
    expect(error.constructor.name).toBe(name);
    expect(error.name).toBe(name);
    expect(error).toMatchObject({ code, status: 422 });
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toBeInstanceOf(CountersignError);
  });

  it('keeps an unknown code', () => {
    const error = apiErrorOf('QUIET_HOURS', ANSWER);
    expect(error.constructor).toBe(ApiError);
    expect(error.code).toBe('QUIET_HOURS');
  });

  it('has every field of the error response', () => {
    const error = apiErrorOf('INVALID_CODE', ANSWER);
    const { message: _, ...facts } = ANSWER;
    expect(error).toMatchObject(facts);
    expect(error.message).toBe('INVALID_CODE: Three attempts are left.');
  });

  it('is narrowed by its class, for the compiler too', () => {
    const error: unknown = apiErrorOf('INVALID_CODE', ANSWER);
    if (!(error instanceof InvalidCodeError)) throw new Error('not an InvalidCodeError');
    const code: 'INVALID_CODE' = error.code;
    expect([code, error.attemptsRemaining]).toEqual(['INVALID_CODE', 2]);
  });
});
