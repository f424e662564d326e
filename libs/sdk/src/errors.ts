/** What all errors of this package are. */
export class CountersignError extends Error {
  override readonly name: string = 'CountersignError';
}

/** A code that this version of the package does not know: codes may be added within `/v1`. */
export type UnknownErrorCode = string & Record<never, never>;

/** What the service said, apart from the code. */
export interface ErrorAnswer {
  readonly status: number;
  readonly message: string;
  readonly field?: string | undefined;
  readonly docUrl?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly attemptsRemaining?: number | undefined;
}

/** The service refused. One that is exactly of this class has a code that this version does not know. */
export class ApiError extends CountersignError {
  override readonly name: string = 'ApiError';
  readonly status: number;
  /** The request's field that offends, `metadata.orderId` for instance. */
  readonly field: string | undefined;
  /** The page that says when it happens and what to do. */
  readonly docUrl: string | undefined;
  /** `X-Request-Id` of the answer: what the operator asks for. */
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

/** 403: understood, and not allowed. */
export class PermissionError extends ApiError {
  override readonly name = 'PermissionError';
  declare readonly code: 'FORBIDDEN' | 'HTTPS_REQUIRED' | 'SMS_OTP_DISABLED' | 'DESTINATION_BLOCKED';
}

/** 404: an expired session is not found either. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
  declare readonly code: 'SESSION_NOT_FOUND' | 'NOT_FOUND';
}

/** 409: not in this state. */
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

/** 400, 405, 413, 415, 422: the request itself must change; `field` says where. */
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

/** 422: six digits, but not the ones that were sent. */
export class InvalidCodeError extends ApiError {
  override readonly name = 'InvalidCodeError';
  declare readonly code: 'INVALID_CODE';
  /** How many more wrong codes the session bears. */
  readonly attemptsRemaining: number | undefined;

  constructor(code: 'INVALID_CODE', answer: ErrorAnswer) {
    super(code, answer);
    this.attemptsRemaining = answer.attemptsRemaining;
  }
}

/** 429: later. `retryAfterSeconds` says when. */
export class LimitError extends ApiError {
  override readonly name = 'LimitError';
  declare readonly code: 'RATE_LIMITED' | 'TOO_MANY_ATTEMPTS' | 'SEND_LIMIT_REACHED';
}

/** 500, 503: not the request's fault. What may be repeated was repeated before this is thrown. */
export class ServiceError extends ApiError {
  override readonly name = 'ServiceError';
  declare readonly code: 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE';
}

/** Every code that this version knows. */
export type ErrorCode =
  | AuthenticationError['code']
  | PermissionError['code']
  | NotFoundError['code']
  | ConflictError['code']
  | InvalidRequestError['code']
  | InvalidCodeError['code']
  | LimitError['code']
  | ServiceError['code'];

/** No answer came: the name was not found, the connection failed or broke. `cause` is what `fetch` threw. */
export class ConnectionError extends CountersignError {
  override readonly name = 'ConnectionError';
}

/** No answer came in time. A create or a code that was asked for may have been done all the same. */
export class TimeoutError extends CountersignError {
  override readonly name = 'TimeoutError';
}

/** Something answered that does not speak as the service does, a proxy for instance. */
export class UnexpectedAnswerError extends CountersignError {
  override readonly name = 'UnexpectedAnswerError';

  constructor(
    readonly status: number,
    readonly requestId: string | undefined,
  ) {
    super(`HTTP ${status} with a body that is not an answer of Countersign.`);
  }
}

/** The error of the class that belongs to the code. */
export function apiErrorOf(code: string, answer: ErrorAnswer): ApiError {
  switch (code) {
    case 'UNAUTHORIZED':
      return new AuthenticationError(code, answer);
    case 'FORBIDDEN':
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
