import type { ErrorAnswer } from './error-answer.js';

/** Base class of all errors of this package. */
export class CountersignError extends Error {
  override readonly name: string = 'CountersignError';
}

/** A code unknown to this version of the package: codes may be added within `/v1`. */
export type UnknownErrorCode = string & Record<never, never>;

/** The service refused. An instance of exactly this class has a code that is unknown to this version. */
export class ApiError extends CountersignError {
  override readonly name: string = 'ApiError';
  readonly status: number;
  /** The faulty field of the request, for instance `metadata.orderId`. */
  readonly field: string | undefined;
  /** The documentation page of the code. */
  readonly docUrl: string | undefined;
  /** `X-Request-Id` of the response, for questions to the operator. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly code: ErrorCode | UnknownErrorCode,
    answer: ErrorAnswer,
  ) {
    super(`${code}: ${answer.message}`);
    this.status = answer.status;
    this.field = answer.field;
    this.docUrl = answer.docUrl;
    this.requestId = answer.requestId;
    this.retryAfterSeconds = answer.retryAfterSeconds;
  }
}

/** 401: the key is missing, mistyped or revoked. */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError';
  declare readonly code: 'UNAUTHORIZED';
}

/** 403: not allowed. */
export class PermissionError extends ApiError {
  override readonly name = 'PermissionError';
  declare readonly code:
    'FORBIDDEN' | 'CONFIRMATION_REQUIRED' | 'HTTPS_REQUIRED' | 'SMS_OTP_DISABLED' | 'DESTINATION_BLOCKED';
}

/** 404: not found; so is an expired session. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
  declare readonly code: 'SESSION_NOT_FOUND' | 'NOT_FOUND';
}

/** 409: not possible in the present state. */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError';
  declare readonly code:
    | 'SESSION_NOT_PENDING'
    | 'SESSION_NOT_APPROVED'
    | 'SESSION_CONSUMED'
    | 'OTP_NOT_SENT'
    | 'IDEMPOTENCY_IN_PROGRESS'
    | 'CONFLICT';
}

/** 400, 405, 413, 415, 422: the request itself is invalid; `field` names the field. */
export class InvalidRequestError extends ApiError {
  override readonly name = 'InvalidRequestError';
  declare readonly code:
    | 'MALFORMED_REQUEST'
    | 'METHOD_NOT_ALLOWED'
    | 'PAYLOAD_TOO_LARGE'
    | 'UNSUPPORTED_MEDIA_TYPE'
    | 'VALIDATION_ERROR'
    | 'INVALID_PHONE'
    | 'INVALID_BRAND'
    | 'INVALID_WEBHOOK_URL'
    | 'IDEMPOTENCY_KEY_REUSED';
}

/** 422: a wrong code. */
export class InvalidCodeError extends ApiError {
  override readonly name = 'InvalidCodeError';
  declare readonly code: 'INVALID_CODE';
  /** Remaining attempts of the session. */
  readonly attemptsRemaining: number | undefined;

  constructor(code: 'INVALID_CODE', answer: ErrorAnswer) {
    super(code, answer);
    this.attemptsRemaining = answer.attemptsRemaining;
  }
}

/** 429: too many requests. Try again after `retryAfterSeconds`. */
export class LimitError extends ApiError {
  override readonly name = 'LimitError';
  declare readonly code: 'RATE_LIMITED' | 'TOO_MANY_ATTEMPTS' | 'SEND_LIMIT_REACHED';
}

/** 500, 503: an error of the service. Safe retries were made before this is thrown. */
export class ServiceError extends ApiError {
  override readonly name = 'ServiceError';
  declare readonly code: 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE';
}

/** Every code known to this version. */
export type ErrorCode =
  | AuthenticationError['code']
  | PermissionError['code']
  | NotFoundError['code']
  | ConflictError['code']
  | InvalidRequestError['code']
  | InvalidCodeError['code']
  | LimitError['code']
  | ServiceError['code'];

/** No answer: the name was not found, or the connection failed. `cause` is the error of `fetch`. */
export class ConnectionError extends CountersignError {
  override readonly name = 'ConnectionError';
}

/** No answer before the timeout. A create or the sending of a code may have been done all the same. */
export class TimeoutError extends CountersignError {
  override readonly name = 'TimeoutError';
}

/** An answer that is not of the service, for instance of a proxy. */
export class UnexpectedAnswerError extends CountersignError {
  override readonly name = 'UnexpectedAnswerError';

  constructor(
    readonly status: number,
    readonly requestId: string | undefined,
  ) {
    super(`HTTP ${status} with a body that is not an answer of Countersign.`);
  }
}

/** Creates the error of the class of the code. */
export function apiErrorOf(code: string, answer: ErrorAnswer): ApiError {
  switch (code) {
    case 'UNAUTHORIZED':
      return new AuthenticationError(code, answer);
    case 'FORBIDDEN':
    case 'CONFIRMATION_REQUIRED':
    case 'HTTPS_REQUIRED':
    case 'SMS_OTP_DISABLED':
    case 'DESTINATION_BLOCKED':
      return new PermissionError(code, answer);
    case 'SESSION_NOT_FOUND':
    case 'NOT_FOUND':
      return new NotFoundError(code, answer);
    case 'SESSION_NOT_PENDING':
    case 'SESSION_NOT_APPROVED':
    case 'SESSION_CONSUMED':
    case 'OTP_NOT_SENT':
    case 'IDEMPOTENCY_IN_PROGRESS':
    case 'CONFLICT':
      return new ConflictError(code, answer);
    case 'MALFORMED_REQUEST':
    case 'METHOD_NOT_ALLOWED':
    case 'PAYLOAD_TOO_LARGE':
    case 'UNSUPPORTED_MEDIA_TYPE':
    case 'VALIDATION_ERROR':
    case 'INVALID_PHONE':
    case 'INVALID_BRAND':
    case 'INVALID_WEBHOOK_URL':
    case 'IDEMPOTENCY_KEY_REUSED':
      return new InvalidRequestError(code, answer);
    case 'INVALID_CODE':
      return new InvalidCodeError(code, answer);
    case 'RATE_LIMITED':
    case 'TOO_MANY_ATTEMPTS':
    case 'SEND_LIMIT_REACHED':
      return new LimitError(code, answer);
    case 'INTERNAL_ERROR':
    case 'SERVICE_UNAVAILABLE':
      return new ServiceError(code, answer);
    default:
      return new ApiError(code, answer);
  }
}
