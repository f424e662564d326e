/** The refusals of the webhook, in the form of the product's errors. Closed by type. */
export const REFUSALS = {
  MALFORMED_REQUEST: { status: 400, message: 'The request cannot be read.' },
  UNAUTHORIZED: { status: 401, message: 'The signature is missing or wrong.' },
  FORBIDDEN: { status: 403, message: 'This is not the client token.' },
  NOT_FOUND: { status: 404, message: 'There is nothing at this address.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This address does not answer to this method.' },
  REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The request body is too large.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'Send Content-Type: application/json.' },
  INTERNAL_ERROR: { status: 500, message: 'Something went wrong here.' },
  SERVICE_UNAVAILABLE: { status: 503, message: 'This cannot be stored just now: try again.' },
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** The body of a refusal. */
export const refusalBody = (code: RefusalCode, message: string = REFUSALS[code].message): string =>
  JSON.stringify({ error: { code, message } });

/** The refusal for a status that the framework reports; its own messages are not sent to callers. */
export function refusalOfStatus(status: number): RefusalCode {
  if (status === 413 || status === 431) return 'PAYLOAD_TOO_LARGE';
  if (status === 415) return 'UNSUPPORTED_MEDIA_TYPE';
  if (status === 503) return 'SERVICE_UNAVAILABLE';
  return status >= 400 && status < 500 ? 'MALFORMED_REQUEST' : 'INTERNAL_ERROR';
}
