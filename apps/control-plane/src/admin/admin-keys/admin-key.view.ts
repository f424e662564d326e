import { ADMIN_ROLES, type AdminKey, type AdminRole } from '@countersign/accounts/admin-keys';
import { renderId } from '@countersign/ids';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { keyTextFields } from '../keys/key.view.js';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { idField, nullable } from '../crud/view-fields.js';

export const ADMIN_KEY_FIELDS = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: 100,
    description:
      'The actor in the audit log: printable ASCII with single spaces inside. Unique among keys that are not revoked, in any case; never `root`.',
    example: 'night shift',
  },
  role: {
    type: 'string',
    enum: [...ADMIN_ROLES],
    description:
      '`viewer` reads everything except people’s data; `support` reads that too; `operator` also changes binds, systems, numbers, routes, destinations and queues; `owner` may do everything.',
    example: 'operator',
  },
  phone: nullable(
    {},
    {
      description:
        'E.164, of the holder. With CONSOLE_SECOND_STEP a sign-in to the console with this key needs an approval by it. A change ends the sessions of the console that the key has opened.',
      example: null,
    },
  ),
} as const satisfies Record<string, ApiPropertyOptions>;

const TEXT = keyTextFields('admin', 'admin');

export class AdminKeyAnswer {
  @ApiProperty(idField('akey', { description: 'Stays the same when the key is rotated.' }))
  readonly id!: string;

  @ApiProperty(ADMIN_KEY_FIELDS.name)
  readonly name!: string;

  @ApiProperty(ADMIN_KEY_FIELDS.role)
  readonly role!: AdminRole;

  @ApiProperty(ADMIN_KEY_FIELDS.phone)
  readonly phone!: string | null;

  @ApiProperty(TEXT.prefix)
  readonly prefix!: string;

  @ApiProperty(
    nullable(
      { format: 'date-time' },
      { description: 'A few seconds behind; null before its first use.', example: '2026-01-31T12:00:00.000Z' },
    ),
  )
  readonly lastUsedAt!: string | null;

  @ApiProperty(nullable({ format: 'date-time' }, { description: 'Null while it is valid.', example: null }))
  readonly revokedAt!: string | null;

  @ApiPropertyOptional(TEXT.key)
  readonly key?: string;
}

export class AdminKeyList extends PageOf(AdminKeyAnswer) {}

export function adminKeyView(adminKey: AdminKey): Plain<AdminKeyAnswer> {
  const { id, name, role, phone, prefix, lastUsedAt, revokedAt } = adminKey;
  return {
    id: renderId('akey', id),
    name,
    role,
    phone,
    prefix,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}
