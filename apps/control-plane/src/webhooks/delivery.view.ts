import { EVENT_TYPES } from '@countersign/events';
import { renderId, type Uuid } from '@countersign/ids';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { maskPeopleIn, maskText } from '../admin/crud/people.js';
import type { AttemptRecord, DeliveryStatus } from './attempt.js';

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'blocked'] as const satisfies DeliveryStatus[];

/** The columns of a delivery that its account may read, with the sealed body. */
export interface DeliveryRow {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly sessionId: Uuid | null;
  readonly type: string;
  readonly url: string;
  readonly status: DeliveryStatus;
  readonly attempts: readonly AttemptRecord[];
  readonly nextAttemptAt: Date | null;
  readonly bodySealed: Buffer | null;
}

const NULL = { type: 'null' } as const;
const REDACTED = '"[redacted]"';

/** The link of a posted Session. It precedes all text of callers, so it is the first member of this name. */
const FALLBACK_URI = /"fallbackUri":"[^"]*"/;
/** The last member of a posted Session, and of the body. */
const AUTH_ENTROPY = /"authEntropy":"[0-9a-f]*"\}\}$/;

/** Removes the secrets of a body (JSON text); metadata stays unchanged. */
export function redactBody(body: string): string {
  return body.replace(FALLBACK_URI, `"fallbackUri":${REDACTED}`).replace(AUTH_ENTROPY, `"authEntropy":${REDACTED}}}`);
}

/** Renders a delivery as JSON text (contract, Webhooks), with its body as it was posted but for secrets. */
export function renderDelivery(row: DeliveryRow, body: string | null): string {
  const { id, type, sessionId, url, status, attempts, nextAttemptAt } = row;
  const shown = {
    id: renderId('dlv', id),
    eventId: renderId('evt', id),
    type,
    sessionId: sessionId === null ? null : renderId('sess', sessionId),
    url,
    status,
    attempts,
    nextAttemptAt: nextAttemptAt === null ? null : nextAttemptAt.toISOString(),
  };
  return `${JSON.stringify(shown).slice(0, -1)},"body":${body === null ? 'null' : redactBody(body)}}`;
}

/** As `renderDelivery`, for readers who may not see people's data: phones masked, no metadata, URLs without their values. */
export function renderMaskedDelivery(row: DeliveryRow, body: string | null): string {
  const masked = body === null ? null : JSON.stringify(maskPeopleIn(JSON.parse(redactBody(body))));
  return renderDelivery({ ...row, url: maskText(row.url) }, masked);
}

/** One POST of a delivery. */
export class AttemptAnswer {
  @ApiProperty({ format: 'date-time', description: 'Start of the attempt.' })
  at!: string;

  @ApiProperty({ oneOf: [{ type: 'integer' }, NULL], description: 'Status of the response; null without one.' })
  status!: number | null;

  @ApiProperty({ type: 'integer', minimum: 0 })
  latencyMs!: number;

  @ApiPropertyOptional({ description: 'Error code when there was no response.', example: 'ECONNREFUSED' })
  error?: string;
}

/*
 * The schema of deliveries in the API description. Responses are rendered as JSON text, so these classes have no instances; the
 * contract tests validate every response against them.
 */
export class DeliveryAnswer {
  @ApiProperty({ pattern: '^dlv_[0-7][0-9A-HJKMNP-TV-Z]{25}$', example: 'dlv_01HF7YAT000000000000000009' })
  id!: string;

  @ApiProperty({
    pattern: '^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
    description: 'The `webhook-id` that the receiver sees: the same on every attempt.',
    example: 'evt_01HF7YAT000000000000000009',
  })
  eventId!: string;

  @ApiProperty({ enum: EVENT_TYPES, example: 'verification.completed' })
  type!: string;

  @ApiProperty({
    oneOf: [{ type: 'string', pattern: '^sess_[0-7][0-9A-HJKMNP-TV-Z]{25}$' }, NULL],
    description: 'Null for a test.',
    example: 'sess_01HF7YAT000000000000000001',
  })
  sessionId!: string | null;

  @ApiProperty({ format: 'uri', maxLength: 2048, example: 'https://acme.example/webhooks' })
  url!: string;

  @ApiProperty({
    enum: DELIVERY_STATUSES,
    description: '`blocked`: the URL leads to an address that webhooks may not go to.',
    example: 'pending',
  })
  status!: DeliveryStatus;

  @ApiProperty({
    type: AttemptAnswer,
    isArray: true,
    description: 'The last hundred attempts, oldest first.',
  })
  attempts!: readonly AttemptAnswer[];

  @ApiProperty({ oneOf: [{ type: 'string', format: 'date-time' }, NULL], description: 'Null once it has ended.' })
  nextAttemptAt!: string | null;

  @ApiProperty({
    oneOf: [{ type: 'object', additionalProperties: true }, NULL],
    description:
      'What is posted, with `authEntropy` and `fallbackUri` as `"[redacted]"`. Null before the first attempt, and from 72 hours after the end.',
    example: { type: 'webhook.test', timestamp: '2023-11-14T22:13:20.007Z', data: {} },
  })
  body!: Readonly<Record<string, unknown>> | null;
}

export class DeliveryListAnswer {
  @ApiProperty({ type: DeliveryAnswer, isArray: true, description: 'Newest first.' })
  data!: readonly DeliveryAnswer[];

  @ApiProperty({ description: 'Whether older deliveries follow; request them with startingAfter.' })
  hasMore!: boolean;
}

/** A new secret, and the time until which the previous one signs too. */
export class RotatedSecretAnswer {
  @ApiProperty({
    pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
    description: 'Signs the account’s webhooks from now on. Shown once, here.',
    example: `whsec_${'AAAA'.repeat(10)}AAA=`,
  })
  secret!: string;

  @ApiProperty({
    format: 'date-time',
    description: 'Until then the secret before it signs too: `webhook-signature` holds both signatures.',
    example: '2023-11-15T22:13:20.007Z',
  })
  previousValidUntil!: string;
}
