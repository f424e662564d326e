import { ADMIN_ROLES, type AdminRole, ROOT_NAME } from '@countersign/accounts/admin-keys';
import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import { ChangeOf, isLine, Satisfies } from '../crud/fields.js';
import { ADMIN_KEY_FIELDS } from './admin-key.view.js';

const isShortLine = isLine(100);

/** One short line, and not `root`, the name of the key of the environment, in any case or character width. */
const isName = (value: unknown): boolean =>
  typeof value === 'string' &&
  isShortLine(value) &&
  value === value.trim() &&
  value.normalize('NFKC').trim().toLowerCase() !== ROOT_NAME;

/** The body of POST /v1/admin/admin-keys. */
export class AdminKeyDraft {
  @ApiProperty(ADMIN_KEY_FIELDS.name)
  @Satisfies(isName, 'name must be one line of 1 to 100 characters without spaces around it, and not root.')
  name!: string;

  @ApiProperty(ADMIN_KEY_FIELDS.role)
  @IsIn([...ADMIN_ROLES], failsWith(`role must be one of ${ADMIN_ROLES.join(', ')}.`))
  role!: AdminRole;
}

/** The body of PATCH /v1/admin/admin-keys/{id}. */
export class AdminKeyChange extends ChangeOf(AdminKeyDraft) {}
