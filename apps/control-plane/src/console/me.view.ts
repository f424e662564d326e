import type { ConsoleSession } from '@countersign/accounts/console-sessions';
import { MEMBER_ROLES, type MemberRole } from '@countersign/accounts/members';
import { renderId } from '@countersign/ids';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Plain } from '../admin/crud/plain.js';
import { idField } from '../admin/crud/view-fields.js';

export class MeAnswer {
  @ApiProperty({ type: 'string', description: 'Of the member or the admin key.', example: 'Ann Lee' })
  readonly name!: string;

  @ApiProperty({ type: 'string', enum: [...MEMBER_ROLES], example: 'operator' })
  readonly role!: MemberRole;

  @ApiPropertyOptional(idField('acct', { description: 'Absent for the installation.' }))
  readonly accountId?: string;

  @ApiProperty({
    type: 'string',
    description: 'The value of the header X-CSRF-Token, which every call but GET must have. Bound to the session.',
    example: 'p4yX0m3pC2m6O4mVqg8kQ1o0n7uJ5r2sT9vW3xYzAbc',
  })
  readonly csrfToken!: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-01-31T12:00:00.000Z' })
  readonly expiresAt!: string;

  @ApiPropertyOptional({
    type: 'string',
    format: 'date-time',
    description:
      'Of a member of an account: until when the session may change what belongs to the live mode. Absent until it is confirmed.',
    example: '2026-01-31T00:15:00.000Z',
  })
  readonly confirmedUntil?: string;
}

export function meView(session: ConsoleSession, csrfToken: string): Plain<MeAnswer> {
  const { name, role, accountId, expiresAt, confirmation } = session;
  return {
    name,
    role,
    ...(accountId === null ? {} : { accountId: renderId('acct', accountId) }),
    csrfToken,
    expiresAt: expiresAt.toISOString(),
    ...(confirmation === null ? {} : { confirmedUntil: confirmation.until.toISOString() }),
  };
}
