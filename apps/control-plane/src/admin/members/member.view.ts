import {
  ACCOUNT_ROLES,
  MEMBER_ROLES,
  type Member,
  type MemberRole,
  type OidcIdentity,
} from '@countersign/accounts/members';
import { ADMIN_ROLES } from '@countersign/accounts/admin-keys';
import { renderId } from '@countersign/ids';
import { maskPhone } from '@countersign/phone';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { maskEmail } from '../crud/people.js';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { idField, nullable } from '../crud/view-fields.js';
import { KeyAnswer } from '../keys/key.view.js';

export const MAX_EMAIL = 254;
export const MAX_SUBJECT = 255;

const OIDC: ApiPropertyOptions = {
  oneOf: [
    {
      type: 'object',
      required: ['issuer', 'subject'],
      additionalProperties: false,
      properties: {
        issuer: { type: 'string', format: 'uri', maxLength: 2_048 },
        subject: { type: 'string', minLength: 1, maxLength: MAX_SUBJECT },
      },
    },
    { type: 'null' },
  ],
  description:
    'The person at the OpenID provider: `iss` and `sub` of its ID tokens. The first sign-in with the verified `email` sets it; after that the email alone signs nobody in. Set it to null to let the email do so again.',
  example: null,
};

export const MEMBER_FIELDS = {
  name: { type: 'string', minLength: 1, maxLength: 100, description: 'One line.', example: 'Ann Lee' },
  phone: nullable(
    {},
    {
      description:
        'E.164. A member of an account signs in with it, so it is required there and unique. A change ends the sessions of the member. Masked for `viewer`.',
      example: '+14155552671',
    },
  ),
  role: {
    type: 'string',
    enum: [...MEMBER_ROLES],
    description: `Of the installation: ${list(ADMIN_ROLES)}, as for admin keys. Of an account: ${list(ACCOUNT_ROLES)}.`,
    example: 'developer',
  },
  email: nullable(
    { format: 'email', maxLength: MAX_EMAIL },
    {
      description:
        'For members of the installation: the address, verified by the OpenID provider, of the first sign-in. Unique, in any case. Masked for `viewer`.',
      example: 'ann@example.com',
    },
  ),
  oidc: OIDC,
  active: { type: 'boolean', description: 'If false, the member is signed out and cannot sign in.', example: true },
} as const satisfies Record<string, ApiPropertyOptions>;

export class MemberAnswer {
  @ApiProperty(idField('mbr'))
  readonly id!: string;

  @ApiProperty(MEMBER_FIELDS.name)
  readonly name!: string;

  @ApiProperty(MEMBER_FIELDS.phone)
  readonly phone!: string | null;

  @ApiProperty(MEMBER_FIELDS.role)
  readonly role!: MemberRole;

  @ApiPropertyOptional(idField('acct', { description: 'Absent for a member of the installation.' }))
  readonly accountId?: string;

  @ApiProperty(MEMBER_FIELDS.email)
  readonly email!: string | null;

  @ApiProperty(MEMBER_FIELDS.oidc)
  readonly oidc!: OidcIdentity | null;

  @ApiProperty(
    nullable({ format: 'date-time' }, { description: 'Null before the first.', example: '2026-01-31T12:00:00.000Z' }),
  )
  readonly lastSignInAt!: string | null;

  @ApiProperty(MEMBER_FIELDS.active)
  readonly active!: boolean;

  @ApiPropertyOptional({
    type: [KeyAnswer],
    description:
      'In the answer to a change alone: the valid keys whose texts the member of the account knows. Absent when there are none.',
  })
  readonly keys?: readonly Plain<KeyAnswer>[];
}

export class MemberList extends PageOf(MemberAnswer) {}

export function memberView(member: Member): Plain<MemberAnswer> {
  const { id, name, phone, role, accountId, email, lastSignInAt, active } = member;
  return {
    id: renderId('mbr', id),
    name,
    phone,
    role,
    ...(accountId === null ? {} : { accountId: renderId('acct', accountId) }),
    email,
    oidc: identityOf(member),
    lastSignInAt: lastSignInAt?.toISOString() ?? null,
    active,
  };
}

/** The member without phone, address and subject. */
export const withoutContact = (shown: Plain<MemberAnswer>): Plain<MemberAnswer> => ({
  ...shown,
  phone: shown.phone === null ? null : maskPhone(shown.phone),
  email: shown.email === null ? null : maskEmail(shown.email),
  oidc: shown.oidc === null ? null : { ...shown.oidc, subject: '***' },
});

function identityOf({ oidcIssuer, oidcSubject }: Member): OidcIdentity | null {
  return oidcIssuer === null || oidcSubject === null ? null : { issuer: oidcIssuer, subject: oidcSubject };
}

function list(roles: readonly string[]): string {
  return roles.map((role) => `\`${role}\``).join(', ');
}
