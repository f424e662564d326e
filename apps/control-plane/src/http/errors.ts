/** One entry of the catalogue: status and texts of a refusal. */
interface ErrorEntry {
  readonly status: number;
  /** The default message, when the refusal has none of its own. */
  readonly message: string;
  /** The page behind `docUrl`: when the error occurs, and how to resolve it. */
  readonly when: string;
  readonly whatToDo: string;
}

/**
 * Every error that this service can return (contract, Errors). Closed by type: a refusal with an unlisted code does not
 * compile. A test compares the catalogue with the documented table in both directions.
 */
export const ERRORS = {
  MALFORMED_REQUEST: {
    status: 400,
    message: 'The request body must be a JSON object.',
    when: 'The request cannot be read: its body is not a JSON object, holds the same name twice, is not UTF-8, or the HTTP itself is broken.',
    whatToDo: 'Send a UTF-8 JSON object with Content-Type: application/json, and each name once.',
  },
  UNAUTHORIZED: {
    status: 401,
    message: 'A valid API key is required: send "Authorization: Bearer <API key>".',
    when: 'The Authorization header is missing, is not a bearer token, or holds a key that is unknown, mistyped or revoked.',
    whatToDo:
      'Send Authorization: Bearer with the whole key, csk_ included. Keys are checked before anything else in the request.',
  },
  FORBIDDEN: {
    status: 403,
    message: 'This API key may not do that.',
    when: 'The key is valid but lacks the scope of this endpoint, is an admin key on a caller’s endpoint or a caller’s key on an admin endpoint, or accountId is not the account of the key.',
    whatToDo: 'Use a key of the account that accountId names, with the scope that the endpoint needs.',
  },
  CONFIRMATION_REQUIRED: {
    status: 403,
    message: 'Confirm this session with a live API key of the account first.',
    when: 'A member of an account changes something of the live mode over the console: its keys, the webhook and its secret, the texts of a brand. A phone alone does not allow it.',
    whatToDo:
      'Confirm the session with one of the account’s live API keys, which allows it for 15 minutes, and call again. An account without a live key gets its first one from an owner of the installation.',
  },
  SMS_OTP_DISABLED: {
    status: 403,
    message: 'This session was created with allowSmsOtp: false.',
    when: 'send-sms or check is called on a session that was created with allowSmsOtp: false.',
    whatToDo:
      'Verify by the SMS from the phone or by the card; create the session with allowSmsOtp: true to allow codes.',
  },
  DESTINATION_BLOCKED: {
    status: 403,
    message: 'No code is sent to this phone number.',
    when: 'No code is sent to the country, the prefix or the kind of the number, too few of the account’s codes were used lately, or the account has reached its daily cap of codes or of their cost. Nothing was sent.',
    whatToDo:
      'Let the user verify by the SMS from the phone, which costs you nothing. The operator sees the rule under destinations in the admin API, and can change it.',
  },
  HTTPS_REQUIRED: {
    status: 403,
    message: 'This service is reached over HTTPS only.',
    when: 'The request reached the TLS proxy as plain HTTP, or bypassed the proxy. It is never redirected: the key was already sent in clear.',
    whatToDo: 'Call the https:// address, and replace a key that was sent over plain HTTP.',
  },
  SESSION_NOT_FOUND: {
    status: 404,
    message: 'There is no session with this id.',
    when: 'No session of this account has the id, it was made by a key of the other mode (test or live), or it has expired (the message then says when).',
    whatToDo: 'Check the id. An expired session cannot be revived: create a new one.',
  },
  NOT_FOUND: {
    status: 404,
    message: 'There is nothing at this address.',
    when: 'No route or resource has this path.',
    whatToDo: 'Check the path; endpoints begin with /v1 and have no slash at the end.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: 'This address does not answer to this method.',
    when: 'The path exists, but not with this method. The Allow header lists the methods it has.',
    whatToDo: 'Use one of the methods of the Allow header.',
  },
  SESSION_NOT_PENDING: {
    status: 409,
    message: 'This session has ended.',
    when: 'send-sms or check is called on a session that is approved, denied or cancelled. The message names the state.',
    whatToDo: 'Fetch the session: if it is approved there is nothing left to do, else create a new one.',
  },
  SESSION_NOT_APPROVED: {
    status: 409,
    message: 'This session is not approved.',
    when: 'consume is called on a session that is pending, denied or cancelled. The message names the state.',
    whatToDo: 'Wait until the session is approved, or create a new one if it has ended. Do not let the user in.',
  },
  SESSION_CONSUMED: {
    status: 409,
    message: 'This session has been consumed before.',
    when: 'consume is called a second time on an approved session, or again after an answer that was lost.',
    whatToDo:
      'Do not let the user in with this session: an approval is good for one sign-in. Create a new session instead.',
  },
  OTP_NOT_SENT: {
    status: 409,
    message: 'No code has been sent in this session.',
    when: 'check is called before any send-sms.',
    whatToDo: 'Call send-sms first.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: 'A request with this Idempotency-Key is still being answered.',
    when: 'The same request with the same Idempotency-Key is under way.',
    whatToDo: 'Send it again after a moment: the answer of the first will be replayed.',
  },
  CONFLICT: {
    status: 409,
    message: 'This conflicts with an existing resource.',
    when: 'In the admin API: a value that must be unique is taken, or the resource is still in use. error.field names the field.',
    whatToDo: 'Choose another value, or first delete the resources that use this one.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: 'The request is too large.',
    when: 'The body is larger than 128 KiB, or that of a sign-in to the console larger than 1 KiB or without Content-Length, or the request line and headers together are larger than 16 KiB.',
    whatToDo: 'Send less: the largest legal body (16 metadata values of 512 characters) fits well within the limit.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'The body must be sent as application/json.',
    when: 'The Content-Type is missing or is not application/json in UTF-8, or the body is compressed.',
    whatToDo: 'Send Content-Type: application/json and an uncompressed body.',
  },
  INVALID_PHONE: {
    status: 422,
    message: 'The phone number is not a routable number in E.164 format.',
    when: 'phone is not E.164 (a plus sign and 2 to 15 digits), is not a number that can exist in its country, is a test number and the key is live, or no inbound number serves its country.',
    whatToDo:
      'Send the number in international format, for example +14155552671. If it is right, ask the operator which countries are served.',
  },
  VALIDATION_ERROR: {
    status: 422,
    message: 'A field of the request is not valid.',
    when: 'A field is missing, has the wrong type or a value outside its range, is null, or is not known. error.field names it.',
    whatToDo:
      'Correct the field that error.field names; fields are checked in the order in which the documentation lists them.',
  },
  INVALID_BRAND: {
    status: 422,
    message: 'There is no active brand with this id in this account.',
    when: 'brandId is unknown, belongs to another account, or the brand is switched off.',
    whatToDo: 'Use the id of an active brand of the account.',
  },
  INVALID_WEBHOOK_URL: {
    status: 422,
    message: 'The webhook URL cannot be used.',
    when: 'The webhook URL is not an https URL of at most 2,048 characters, holds a user name, password or fragment, names the port of another service (of a database, for instance), or points to an address that is not public.',
    whatToDo: 'Use a public https URL. Private addresses are opt-in for the operator (WEBHOOK_ALLOWED_CIDRS).',
  },
  INVALID_CODE: {
    status: 422,
    message: 'The code is wrong.',
    when: 'The code has six digits and is not among the codes that were sent in this session.',
    whatToDo: 'Let the user type it again; error.attemptsRemaining says how often.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    message: 'This Idempotency-Key was used with another request body.',
    when: 'A request with the same Idempotency-Key and another body was answered within the last 24 hours.',
    whatToDo: 'Use a new key for every new request; repeat a key only together with the very same body.',
  },
  RATE_LIMITED: {
    status: 429,
    message: 'Too many requests.',
    when: 'A quota of the API key is used up, too many calls with a wrong key came from this address, a code was sent less than 30 seconds ago, the account has too many Idempotency-Keys, the phone has too many live sessions, or a webhook was tried or its secret replaced too often of late (the message says which).',
    whatToDo:
      'Wait for the seconds in Retry-After. The RateLimit headers of every answer say what is left; webhooks and the WebSocket channel save polling.',
  },
  TOO_MANY_ATTEMPTS: {
    status: 429,
    message: 'Too many wrong codes have been tried in this session.',
    when: 'Five wrong codes were checked in this session, or two where it was created while codes of the account were being guessed; a new code does not give new attempts.',
    whatToDo: 'The SMS from the phone and the card still approve the session; else create a new one.',
  },
  SEND_LIMIT_REACHED: {
    status: 429,
    message: 'No more codes are sent for now.',
    when: 'Three codes were sent in this session, or five in an hour or ten in a day to this phone over all sessions.',
    whatToDo: 'Wait for the seconds in Retry-After, or let the user verify by the SMS from the phone.',
  },
  INTERNAL_ERROR: {
    status: 500,
    message: 'Something went wrong on our side.',
    when: 'An unexpected fault. It has been logged under the X-Request-Id of the answer.',
    whatToDo: 'Try again; if the error persists, report the X-Request-Id to the operator.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'The service cannot take this request at the moment.',
    when: 'The database cannot be reached, more requests are queued than can be answered in time, or, on send-sms, no route leads to the phone or its limits cannot be checked.',
    whatToDo: 'Try again after the seconds in the Retry-After header.',
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;

export type ErrorCode = keyof typeof ERRORS;

/**
 * An expected refusal, as a value: services return it, and only this folder maps it to HTTP. `message` replaces the one
 * of the catalogue; it never quotes the caller's input.
 */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message?: string;
  /** The offending field of the request; `metadata.orderId` for a nested one. */
  readonly field?: string;
  /** With INVALID_CODE: wrong codes that this session still accepts. */
  readonly attemptsRemaining?: number;
  /** Earliest retry, in whole seconds from now, at least 1: the Retry-After header. */
  readonly retryAfterSeconds?: number;
}

/** Retry-After of a 503 in seconds: the database usually recovers, or a load spike passes, within a second. */
const UNAVAILABLE_RETRY_SECONDS = 1;

/** Retry-After of a refusal, in seconds; undefined where a retry does not help. */
export const retryAfterOf = ({ code, retryAfterSeconds }: Refusal): number | undefined =>
  retryAfterSeconds ?? (ERRORS[code].status === 503 ? UNAVAILABLE_RETRY_SECONDS : undefined);

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

export const succeed = <T>(value: T): Outcome<T> => ({ ok: true, value });

export const refuse = (code: ErrorCode, more: Omit<Refusal, 'code'> = {}): { ok: false; refusal: Refusal } => ({
  ok: false,
  refusal: { code, ...more },
});

/** For an expired session, which counts as not found; the message says when it expired. */
export const refuseExpired = ({ expiresAt }: { readonly expiresAt: Date }): Outcome<never> =>
  refuse('SESSION_NOT_FOUND', { message: `This session expired at ${expiresAt.toISOString()}.` });

/** Carries a refusal through the framework to the error filter. No stack is recorded: a refusal is no fault. */
export class RefusedRequest extends Error {
  /** Headers of the response besides the usual ones, such as Allow. */
  readonly headers: Readonly<Record<string, string>> = {};

  constructor(readonly refusal: Refusal) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(refusal.code);
    Error.stackTraceLimit = limit;
    this.name = 'RefusedRequest';
  }

  static withHeaders(refusal: Refusal, headers: RefusedRequest['headers']): RefusedRequest {
    return Object.assign(new RefusedRequest(refusal), { headers });
  }
}

/** The value of an outcome; throws a refusal to the error filter. For controllers only. */
export function valueOf<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new RefusedRequest(outcome.refusal);
}

/** The body of an error answer (specification 7). */
export function errorBody(refusal: Refusal, publicBaseUrl: string): string {
  const { code, field, attemptsRemaining } = refusal;
  const message = refusal.message ?? ERRORS[code].message;
  const docUrl = `${publicBaseUrl}/docs/errors/${code}`;
  return JSON.stringify({ error: { code, message, field, attemptsRemaining, docUrl } });
}
