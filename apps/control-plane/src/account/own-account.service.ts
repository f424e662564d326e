import { type Account, AccountStore } from '@countersign/accounts/accounts';
import { ACCOUNTS } from '@countersign/accounts/records';
import { renderId } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { settingsOf } from '../admin/accounts/account-settings.js';
import { accountView } from '../admin/accounts/account.view.js';
import { AdminService } from '../admin/crud/admin.service.js';
import { refuse, succeed, type Outcome } from '../http/errors.js';
import type { Plain } from '../admin/crud/plain.js';
import type { Developer } from '../http/developer.decorator.js';
import { DeveloperRights } from '../http/developer-rights.js';
import type { OwnWebhookChange } from './own-account.dto.js';
import { ownAccountView, ownWebhookView, type OwnAccountAnswer, type OwnWebhookAnswer } from './own-account.view.js';

const RESOURCE = {
  ...{ name: 'accounts', noun: 'account', idPrefix: 'acct', table: ACCOUNTS, refusals: {} },
  audited: accountView,
} as const;

/** The account of a key, as its developers see and change it. Every change has an entry in the audit log. */
@Injectable()
export class OwnAccountService {
  constructor(
    private readonly database: Database,
    private readonly admin: AdminService,
    private readonly accounts: AccountStore,
    private readonly rights: DeveloperRights,
  ) {}

  async show({ caller }: Developer): Promise<Plain<OwnAccountAnswer>> {
    return ownAccountView(await this.accountOf({ caller }), caller);
  }

  /** @param seesPeople whether the reader sees people's data; else values of queries are masked */
  async showWebhook({ caller }: Developer, seesPeople: boolean): Promise<Plain<OwnWebhookAnswer>> {
    return ownWebhookView(await this.accountOf({ caller }), caller, seesPeople);
  }

  /** Of a test key only the test URL: the rest concerns live sessions. */
  changeWebhook(by: Developer, change: OwnWebhookChange): Promise<Outcome<Plain<OwnWebhookAnswer>>> {
    const { caller } = by;
    const [foreign] = Object.keys(change).filter((name) => caller.kind === 'test' && name !== 'testWebhookUrl');
    if (foreign !== undefined) {
      return Promise.resolve(refuse('FORBIDDEN', { message: `A test key may not change ${foreign}.` }));
    }
    const resource = { ...RESOURCE, view: (account: Account) => ownWebhookView(account, caller, true) };
    const id = renderId('acct', caller.tenant.accountId);
    return this.rights.inTurn(by, () =>
      this.admin.act(resource, by, { id, action: 'update' }, async (tx, account) => {
        const held = await this.rights.hold(tx, by);
        if (!held.ok) return held;
        return succeed({ row: await this.accounts.updateAccount(tx, { ...account, ...settingsOf(change) }) });
      }),
    );
  }

  private async accountOf({ caller }: Pick<Developer, 'caller'>): Promise<Account> {
    const account = await ACCOUNTS.find(this.database, caller.tenant.accountId);
    if (account === null) throw new Error('the account of a key does not exist');
    return account;
  }
}
