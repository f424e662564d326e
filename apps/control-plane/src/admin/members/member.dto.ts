import { MEMBER_ROLES, type MemberRole } from '@countersign/accounts/members';
import { checkPhone } from '@countersign/phone';
import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsString, isEmail } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import type { JsonObject } from '../../http/json-body.js';
import { ChangeOf, isLine, memberFault, Nullable, Optional, Satisfies } from '../crud/fields.js';
import { idField } from '../crud/view-fields.js';
import { MAX_EMAIL, MAX_SUBJECT, MEMBER_FIELDS } from './member.view.js';

const MAX_ISSUER = 2_048;

const isPhone = (value: unknown): boolean => typeof value === 'string' && checkPhone(value).ok;

const isOneLine = isLine(MAX_EMAIL);

/** One line, since `isEmail` throws for a lone surrogate. */
const isAddress = (value: unknown): boolean =>
  isOneLine(value) &&
  typeof value === 'string' &&
  value.length <= MAX_EMAIL &&
  isEmail(value, { allow_utf8_local_part: false });

const isIssuer = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= MAX_ISSUER && /^https?:\/\//.test(value) && URL.canParse(value);

/** ASCII characters (OpenID Connect Core, 2). */
const isSubject = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= MAX_SUBJECT && /^[\x20-\x7e]+$/.test(value);

const identityFault = memberFault({ issuer: isIssuer, subject: isSubject });

/** The body of POST /v1/admin/members. */
export class MemberDraft {
  @ApiPropertyOptional(idField('acct', { description: 'Omitted for a member of the installation.' }))
  @IsString(failsWith('accountId must be a string.'))
  @Optional()
  accountId?: string;

  @ApiProperty(MEMBER_FIELDS.name)
  @Satisfies(isLine(100), 'name must be one line of 1 to 100 characters.')
  name!: string;

  @ApiProperty(MEMBER_FIELDS.role)
  @IsIn([...MEMBER_ROLES], failsWith(`role must be one of ${MEMBER_ROLES.join(', ')}.`))
  role!: MemberRole;

  @ApiPropertyOptional(MEMBER_FIELDS.phone)
  @Satisfies(isPhone, 'phone must be a routable number in E.164 format, or null.')
  @Nullable()
  phone?: string | null;

  @ApiPropertyOptional(MEMBER_FIELDS.email)
  @Satisfies(isAddress, `email must be an email address of at most ${MAX_EMAIL} characters, or null.`)
  @Nullable()
  email?: string | null;

  @ApiPropertyOptional(MEMBER_FIELDS.oidc)
  @Satisfies(
    (value) => identityFault(value) === null,
    `oidc must be an object of issuer, an http URL, and subject, 1 to ${MAX_SUBJECT} ASCII characters, or null.`,
    (value) => identityFault(value) ?? undefined,
  )
  @Nullable()
  oidc?: JsonObject | null;

  @ApiPropertyOptional(MEMBER_FIELDS.active)
  @IsBoolean(failsWith('active must be true or false.'))
  @Optional()
  active?: boolean;
}

const REVOKES_KEYS = 'Whether the valid keys whose texts the member knows are revoked in the same transaction.';

/** The body of PATCH /v1/admin/members/{id}. */
export class MemberChange extends ChangeOf(OmitType(MemberDraft, ['accountId'])) {
  @ApiPropertyOptional({ type: 'boolean', default: false, description: REVOKES_KEYS, example: true })
  @IsBoolean(failsWith('revokeKeys must be true or false.'))
  @Optional()
  revokeKeys?: boolean;
}

/** The query of DELETE /v1/admin/members/{id}. */
export class MemberRemoval {
  @ApiPropertyOptional({
    type: 'string',
    enum: ['true', 'false'],
    description: `${REVOKES_KEYS} Required while there are any.`,
  })
  @IsIn(['true', 'false'], failsWith('revokeKeys must be true or false.'))
  @Optional()
  revokeKeys?: 'true' | 'false';
}
