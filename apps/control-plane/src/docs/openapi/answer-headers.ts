import type { OpenAPIObject } from '@nestjs/swagger';
import { type Operation, parametersOf } from './operations.js';

type Headers = NonNullable<NonNullable<OpenAPIObject['components']>['headers']>;

const integer = (description: string, example: number, minimum = 0) =>
  ({ description, required: true, schema: { type: 'integer', minimum }, example }) as const;

const text = (description: string, example: string, pattern?: string) => {
  const schema = { type: 'string', ...(pattern === undefined ? {} : { pattern }) } as const;
  return { description, required: true, schema, example } as const;
};

const POLICY = '"[a-z]+";q=[0-9]+;w=[0-9]+';
const STATE = '"[a-z]+";r=[0-9]+;t=[0-9]+';
const listOf = (item: string): string => `^${item}(, ${item})*$`;

/** Response headers, by name. */
export const ANSWER_HEADERS = {
  'X-Request-Id': text(
    'The id of this request in the log.',
    'req_01M7YEPFVFZZN0KW8Z1J35ZCM6',
    '^req_[0-9A-HJKMNP-TV-Z]{26}$',
  ),
  'Cache-Control': text('Responses are for the caller only.', 'no-store'),
  'RateLimit-Policy': text(
    'The quotas that apply to this call: q requests in w seconds (draft-ietf-httpapi-ratelimit-headers).',
    '"default";q=600;w=60, "create";q=300;w=60',
    listOf(POLICY),
  ),
  RateLimit: text(
    'The remainder of each quota: r requests for the next t seconds.',
    '"default";r=598;t=42, "create";r=299;t=42',
    listOf(STATE),
  ),
  'X-RateLimit-Limit': integer('The quota nearest to exhaustion: its requests in a window.', 300),
  'X-RateLimit-Remaining': integer('Its remaining requests.', 299),
  'X-RateLimit-Reset': integer('When it is reset, in seconds since 1970.', 1_700_000_042),
  'Retry-After': integer('Seconds until a retry is useful.', 17, 1),
  'WWW-Authenticate': text('The authentication scheme.', 'Bearer'),
  'Idempotent-Replayed': {
    ...text('Present when this is the response to an earlier request with the same Idempotency-Key.', 'true', '^true$'),
    required: false,
  },
  Link: {
    ...text(
      'With `format=csv`: the next page, if there is one (RFC 8288).',
      '</v1/verify?format=csv&startingAfter=sess_01HF7YAT000000000000000001>; rel="next"',
      '^</[^>]+>; rel="next"$',
    ),
    required: false,
  },
} as const satisfies Headers;

type HeaderName = keyof typeof ANSWER_HEADERS;

const ALWAYS: readonly HeaderName[] = ['X-Request-Id', 'Cache-Control'];
const LIMITED: readonly HeaderName[] = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];
/** Headers of particular statuses. */
const OF_STATUS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Whether a call answers pages in CSV too. */
const isPage = ({ responses }: Operation['operation']): boolean =>
  JSON.stringify(responses['200'] ?? null).includes('"text/csv"');

/** The headers of one response of a call, as references. */
export function headersOf(operation: Operation['operation'], status: number): Record<string, { $ref: string }> {
  const isPublic = operation.tags?.includes('Documents') === true;
  const idempotent = parametersOf(operation).some(({ name }) => name === 'Idempotency-Key');
  const names: readonly HeaderName[] = [
    ...ALWAYS,
    ...(isPublic ? [] : LIMITED),
    ...(OF_STATUS[status] ?? []),
    ...(isPage(operation) && status === 200 ? (['Link'] as const) : []),
    ...(idempotent && status < 300 ? (['Idempotent-Replayed'] as const) : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
