import { describe, expect, it } from 'vitest';
import { ERRORS, errorBody, RefusedRequest, refuse, succeed, valueOf } from './errors.js';

/** Codes and statuses as the specification (section 7) and the contract (Errors) document them. */
const DOCUMENTED: Readonly<Record<string, number>> = {
  MALFORMED_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  CONFIRMATION_REQUIRED: 403,
  HTTPS_REQUIRED: 403,
  SMS_OTP_DISABLED: 403,
  DESTINATION_BLOCKED: 403,
  SESSION_NOT_FOUND: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  SESSION_NOT_PENDING: 409,
  SESSION_NOT_APPROVED: 409,
  SESSION_CONSUMED: 409,
  OTP_NOT_SENT: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  INVALID_PHONE: 422,
  VALIDATION_ERROR: 422,
  INVALID_BRAND: 422,
  INVALID_WEBHOOK_URL: 422,
  INVALID_CODE: 422,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  TOO_MANY_ATTEMPTS: 429,
  SEND_LIMIT_REACHED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
};

describe('the error catalogue', () => {
  it('contains every documented error with its status, and no other', () => {
    expect(Object.fromEntries(Object.entries(ERRORS).map(([code, entry]) => [code, entry.status]))).toEqual(DOCUMENTED);
  });

  it.each(Object.entries(ERRORS))('explains in sentences when %s occurs and how to resolve it', (_code, entry) => {
    for (const sentence of [entry.message, entry.when, entry.whatToDo]) expect(sentence).toMatch(/^[A-Za-z].+[.>"]$/);
  });

  it('renders code, message, field and the address of its page', () => {
    expect(JSON.parse(errorBody({ code: 'VALIDATION_ERROR', field: 'ttl' }, 'https://localhost:8443'))).toEqual({
      error: {
        code: 'VALIDATION_ERROR',
        message: 'A field of the request is not valid.',
        field: 'ttl',
        docUrl: 'https://localhost:8443/docs/errors/VALIDATION_ERROR',
      },
    });
  });

  it('omits field when no field is at fault', () => {
    expect(errorBody({ code: 'NOT_FOUND', message: 'No.' }, '')).toBe(
      '{"error":{"code":"NOT_FOUND","message":"No.","docUrl":"/docs/errors/NOT_FOUND"}}',
    );
  });

  it('turns a refusal into an exception without a stack', () => {
    expect(valueOf(succeed(1))).toBe(1);
    const refused = refuse('FORBIDDEN');
    expect(() => valueOf(refused)).toThrow(RefusedRequest);
    expect(new RefusedRequest({ code: 'FORBIDDEN' }).stack).not.toContain('at ');
  });
});
