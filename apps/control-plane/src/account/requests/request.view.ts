import type { Uuid } from '@countersign/ids';
import { renderId } from '@countersign/ids';
import { ApiProperty } from '@nestjs/swagger';
import { PageOf } from '../../admin/crud/paging.js';
import type { Plain } from '../../admin/crud/plain.js';
import { idField, nullable } from '../../admin/crud/view-fields.js';

/** A row of the log of requests. */
export interface LoggedRequest {
  readonly id: Uuid;
  readonly keyId: Uuid;
  readonly at: Date;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly code: string | null;
  readonly latencyMs: number;
}

export class RequestAnswer {
  @ApiProperty(idField('req', { description: 'As in the header `X-Request-Id` of the response.' }))
  readonly id!: string;

  @ApiProperty({ type: 'string', format: 'date-time', description: 'When it was answered.' })
  readonly at!: string;

  @ApiProperty(idField('key', { description: 'The key of the request.' }))
  readonly keyId!: string;

  @ApiProperty({ type: 'string', example: 'GET' })
  readonly method!: string;

  @ApiProperty({
    type: 'string',
    maxLength: 1_024,
    description: 'Path and query, unescaped: phones are masked, keys, tickets and secrets left out.',
    example: '/v1/verify?phone=+141******71',
  })
  readonly path!: string;

  @ApiProperty({ type: 'integer', description: 'The HTTP status of the response.', example: 422 })
  readonly status!: number;

  @ApiProperty(nullable({}, { description: 'The code of an error; null without one.', example: 'VALIDATION_ERROR' }))
  readonly code!: string | null;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Milliseconds until it was answered.', example: 4 })
  readonly latencyMs!: number;
}

export class RequestList extends PageOf(RequestAnswer) {}

export function requestLogView({ id, keyId, at, ...rest }: LoggedRequest): Plain<RequestAnswer> {
  const { method, path, status, code, latencyMs } = rest;
  return {
    ...{ id: renderId('req', id), at: at.toISOString(), keyId: renderId('key', keyId) },
    ...{ method, path, status, code, latencyMs },
  };
}
