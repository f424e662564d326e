import { Body, Controller, Param, Query } from '@nestjs/common';
import { BodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminService } from '../crud/admin.service.js';
import { Creates, Lists, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { PageQuery } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { AccountChange, AccountDraft } from './account.dto.js';
import { AccountResource } from './account.resource.js';
import { AccountAnswer, AccountList } from './account.view.js';

const ACCOUNT = { resource: 'accounts', id: 'Account', one: 'an account', many: 'accounts' } as const;

@Controller('v1/admin/accounts')
export class AccountsController {
  constructor(
    private readonly admin: AdminService,
    private readonly accounts: AccountResource,
  ) {}

  @Lists(ACCOUNT, AccountList)
  async list(@ByEngineer() by: Engineer, @Query(QueryPipe) query: PageQuery): Promise<Plain<AccountList>> {
    return valueOf(await this.admin.list(this.accounts.seenBy(by), query));
  }

  @Creates(ACCOUNT, AccountAnswer, {
    description:
      'Every field except the name has a default: no webhook, no cap, active. The webhook secrets, live and test, are in this response only.',
    errors: ['INVALID_WEBHOOK_URL'],
  })
  async create(@ByEngineer() by: Engineer, @Body(BodyPipe) body: AccountDraft): Promise<Plain<AccountAnswer>> {
    return valueOf(await this.admin.create(this.accounts, by, (tx) => this.accounts.create(tx, body)));
  }

  @Shows(ACCOUNT, AccountAnswer)
  async find(@ByEngineer() by: Engineer, @Param('id') id: string): Promise<Plain<AccountAnswer>> {
    return valueOf(await this.admin.find(this.accounts.seenBy(by), id));
  }

  @Updates(ACCOUNT, AccountAnswer, { errors: ['INVALID_WEBHOOK_URL'] })
  async update(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(BodyPipe) body: AccountChange,
  ): Promise<Plain<AccountAnswer>> {
    return valueOf(await this.admin.update(this.accounts, by, id, (tx, row) => this.accounts.update(tx, row, body)));
  }
}
