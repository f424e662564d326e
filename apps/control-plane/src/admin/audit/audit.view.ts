import type { AuditEntry } from '@countersign/events';
import { renderId } from '@countersign/ids';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { PageOf } from '../crud/paging.js';
import { maskPeopleIn } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { idField, nullable } from '../crud/view-fields.js';
import { parseState } from './audit-state.js';

const state = (description: string): ApiPropertyOptions => ({
  oneOf: [{ type: 'object', additionalProperties: true }, { type: 'null' }],
  description,
});

export class AuditAnswer {
  @ApiProperty(idField('aud'))
  readonly id!: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-01-31T12:00:00.000Z' })
  readonly at!: string;

  @ApiProperty({
    type: 'string',
    description: 'The name of the admin key; `root` for the key of the environment.',
    example: 'night shift',
  })
  readonly actor!: string;

  @ApiProperty({
    type: 'string',
    description: '`create`, `update`, `delete`, `read`, or the name of an action such as `revoke`.',
    example: 'update',
  })
  readonly action!: string;

  @ApiProperty({ type: 'string', description: 'The kind of resource, spelled as in its path.', example: 'brands' })
  readonly resource!: string;

  @ApiProperty({
    type: 'string',
    description: '`list` for a read of a page.',
    example: 'brd_01HF7YAT000000000000000001',
  })
  readonly resourceId!: string;

  @ApiProperty(state('The resource before the change; null for a create.'))
  readonly before!: unknown;

  @ApiProperty(state('The resource after the change; null for a delete.'))
  readonly after!: unknown;

  @ApiProperty(
    nullable(
      { pattern: '^req_' },
      { description: 'The X-Request-Id of the response to the change.', example: 'req_0a1b2c3d4e5f' },
    ),
  )
  readonly requestId!: string | null;
}

export class AuditList extends PageOf(AuditAnswer) {}

export function auditView({ id, at, before, after, ...rest }: AuditEntry): Plain<AuditAnswer> {
  return {
    id: renderId('aud', id),
    at: at.toISOString(),
    actor: rest.actor,
    action: rest.action,
    resource: rest.resource,
    resourceId: rest.resourceId,
    before: parseState(before),
    after: parseState(after),
    requestId: rest.requestId,
  };
}

/** The entry without people's data. */
export const withoutPeople = (entry: Plain<AuditAnswer>): Plain<AuditAnswer> => ({
  ...entry,
  before: maskPeopleIn(entry.before),
  after: maskPeopleIn(entry.after),
});
