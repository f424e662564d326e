import { ADMIN_ROLES, type AdminRole, ROOT_NAME } from '@countersign/accounts/admin-keys';
import { checkPhone } from '@countersign/phone';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import { ChangeOf, isText, Nullable, Satisfies } from '../crud/fields.js';
import { ADMIN_KEY_FIELDS } from './admin-key.view.js';

/**
 * Printable ASCII with single spaces inside: the name is the actor in the audit log, so no two keys may have names that
 * look alike by other alphabets, invisible characters or spaces. The database compares names in lower case.
 */
const NAME = /^(?=.{1,100}$)[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;
const isPlain = isText(NAME);

/**
 * Actors of the audit log that are no key of this table: the key of the environment, changes by the service itself, and members
 * and keys of accounts, which are shown with their id.
 */
const OTHER_ACTOR = new RegExp(`^(?:${ROOT_NAME}|system)$|(?:key|mbr)_[0-9a-z]{10}`, 'i');

const isName = (value: unknown): boolean => typeof value === 'string' && isPlain(value) && !OTHER_ACTOR.test(value);

/** The body of POST /v1/admin/admin-keys. */
export class AdminKeyDraft {
  @ApiProperty({ ...ADMIN_KEY_FIELDS.name, pattern: NAME.source })
  @Satisfies(
    isName,
    'name must be 1 to 100 printable ASCII characters, without spaces around it or two in a row, and not that of another actor (root, system, an id).',
  )
  name!: string;

  @ApiProperty(ADMIN_KEY_FIELDS.role)
  @IsIn([...ADMIN_ROLES], failsWith(`role must be one of ${ADMIN_ROLES.join(', ')}.`))
  role!: AdminRole;

  @ApiPropertyOptional(ADMIN_KEY_FIELDS.phone)
  @Satisfies(
    (value) => typeof value === 'string' && checkPhone(value).ok,
    'phone must be a routable number in E.164 format, or null.',
  )
  @Nullable()
  phone?: string | null;
}

/** The body of PATCH /v1/admin/admin-keys/{id}. */
export class AdminKeyChange extends ChangeOf(AdminKeyDraft) {}
