import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from './schema.js';

export type Schemas = components['schemas'];

/** An answer of the server that is no success, or no answer at all (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** A page that explains the error; null without an answer. */
    readonly docUrl: string | null = null,
    /** The field of the body that offends, such as `hosts`. */
    readonly field: string | null = null,
  ) {
    super(message);
  }
}

/** Set by the session; sent with every call that is no GET. */
let csrfToken = '';
export const useCsrfToken = (token: string): void => {
  csrfToken = token;
};

const csrf: Middleware = {
  onRequest({ request }) {
    if (request.method !== 'GET') request.headers.set('x-csrf-token', csrfToken);
    return request;
  },
};

/** A call without an answer after this time has failed: the page says so, and may try again. */
const ANSWER_TIMEOUT_MS = 30_000;

/** Ends with the signal of the request, or after the timeout. */
const boundedFetch = (request: Request): Promise<Response> =>
  fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]) });

export const api = createClient<paths>({ baseUrl: '/console/api', credentials: 'same-origin', fetch: boundedFetch });
api.use(csrf);

interface Answered<T> {
  readonly data?: T;
  readonly error?: Schemas['ErrorAnswer'];
  readonly response: Response;
}

/** The data of an answer. Throws ApiError for every other answer, and when there is none. */
export async function dataOf<T>(call: Promise<Answered<T>>): Promise<T> {
  const { data, error, response } = await call.catch(noAnswer);
  if (response.ok) return data as T;
  // The body of a proxy in between may be of any form.
  const detail = (error as Partial<Schemas['ErrorAnswer']> | undefined)?.error;
  throw new ApiError(
    response.status,
    detail?.code ?? 'UNREADABLE',
    detail?.message ?? `The server answered with the status ${String(response.status)}.`,
    detail?.docUrl ?? null,
    detail?.field ?? null,
  );
}

function noAnswer(): never {
  throw new ApiError(0, 'NO_ANSWER', 'The server does not answer.');
}
