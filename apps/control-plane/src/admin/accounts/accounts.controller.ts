import { Controller } from '@nestjs/common';
import { CrudController } from '../crud/crud.controller.js';
import { Creates, Lists, Shows, Updates } from '../crud/admin-operations.js';
import { AccountChange, AccountDraft } from './account.dto.js';
import { AccountResource } from './account.resource.js';
import { AccountAnswer, AccountList } from './account.view.js';

const ACCOUNT = { resource: 'accounts', id: 'Account', one: 'an account', many: 'accounts' } as const;

@Controller('v1/admin/accounts')
export class AccountsController extends CrudController(AccountResource, {
  list: Lists(ACCOUNT, AccountList),
  create: Creates(ACCOUNT, AccountAnswer, {
    description:
      'Every field except the name has a default: no webhook, no cap, active. The webhook secrets, live and test, are in this response only.',
    errors: ['INVALID_WEBHOOK_URL'],
  }),
  get: Shows(ACCOUNT, AccountAnswer),
  update: Updates(ACCOUNT, AccountAnswer, { errors: ['INVALID_WEBHOOK_URL'] }),
  draft: AccountDraft,
  change: AccountChange,
}) {}
