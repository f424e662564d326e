import { type ConsoleSession, SIGN_IN_METHODS, type SignInMethod } from '@countersign/accounts/console-sessions';
import { MEMBER_ROLES, type MemberRole } from '@countersign/accounts/members';
import { renderId, type Uuid } from '@countersign/ids';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { PageOf } from '../admin/crud/paging.js';
import type { Plain } from '../admin/crud/plain.js';
import { idField } from '../admin/crud/view-fields.js';

const moment = (description: string): ApiPropertyOptions => ({
  type: 'string',
  format: 'date-time',
  description,
  example: '2026-01-31T12:00:00.000Z',
});

export class ConsoleSessionAnswer {
  @ApiProperty(idField('csn'))
  readonly id!: string;

  @ApiProperty({ type: 'string', description: 'Of the member or the admin key.', example: 'Ann Lee' })
  readonly name!: string;

  @ApiProperty({ type: 'string', enum: [...MEMBER_ROLES], example: 'operator' })
  readonly role!: MemberRole;

  @ApiPropertyOptional(idField('acct', { description: 'Absent for the installation.' }))
  readonly accountId?: string;

  @ApiProperty({ type: 'string', enum: [...SIGN_IN_METHODS], description: 'How it was opened.', example: 'oidc' })
  readonly method!: SignInMethod;

  @ApiProperty({ type: 'string', description: 'Where it was opened.', example: '203.0.113.7' })
  readonly clientAddress!: string;

  @ApiProperty({ type: 'string', description: 'What the browser called itself there.', example: 'Mozilla/5.0' })
  readonly userAgent!: string;

  @ApiProperty(moment('When it was opened.'))
  readonly createdAt!: string;

  @ApiProperty(moment('Its last call; up to a minute behind.'))
  readonly lastUsedAt!: string;

  @ApiProperty(moment('12 hours after it was opened.'))
  readonly expiresAt!: string;

  @ApiProperty({ type: 'boolean', description: 'Whether it is the session of this call.', example: true })
  readonly current!: boolean;
}

export class ConsoleSessionList extends PageOf(ConsoleSessionAnswer) {}

/** @param currentId the session of the call */
export function consoleSessionView(session: ConsoleSession, currentId: Uuid): Plain<ConsoleSessionAnswer> {
  const { id, name, role, accountId, method, clientAddress, userAgent, createdAt, lastUsedAt, expiresAt } = session;
  return {
    id: renderId('csn', id),
    name,
    role,
    ...(accountId === null ? {} : { accountId: renderId('acct', accountId) }),
    method,
    clientAddress,
    userAgent,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    current: id === currentId,
  };
}
