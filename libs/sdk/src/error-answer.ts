import { isCount, isObject, isText, parseJson } from './fields.js';
import { parseRetryAfter } from './retry-after.js';

/** The fields of an error response, except the code. */
export interface ErrorAnswer {
  readonly status: number;
  readonly message: string;
  readonly field?: string | undefined;
  readonly docUrl?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly attemptsRemaining?: number | undefined;
}

/**
 * The code and the fields of an error response; null for a response of another form.
 *
 * @param retryAfter the header `Retry-After`
 */
export function parseErrorAnswer(
  {
    status,
    requestId,
    text,
  }: { readonly status: number; readonly requestId: string | undefined; readonly text: string },
  retryAfter: string | null,
): { readonly code: string; readonly answer: ErrorAnswer } | null {
  const body = parseJson(text);
  const error = isObject(body) ? body['error'] : undefined;
  if (!isObject(error) || !isText(error['code'])) return null;
  const { code, message, field, docUrl, attemptsRemaining } = error;
  const answer = {
    status,
    requestId,
    message: isText(message) ? message : '',
    field: isText(field) ? field : undefined,
    docUrl: isText(docUrl) ? docUrl : undefined,
    attemptsRemaining: isCount(attemptsRemaining) ? attemptsRemaining : undefined,
    retryAfterSeconds: parseRetryAfter(retryAfter, Date.now()),
  };
  return { code, answer };
}
