import { AccountStore, type Account } from '@countersign/accounts/accounts';
import { CodePrices } from '@countersign/accounts/prices';
import { ACCOUNTS } from '@countersign/accounts/records';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { refuse, succeed } from '../../http/errors.js';
import type { AdminResource, CrudResource, Engineer, Reply } from '../crud/admin-resource.js';
import { AdminDefaults } from '../crud/admin-defaults.js';
import { maskedFor } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import type { AccountChange, AccountDraft } from './account.dto.js';
import { settingsOf } from './account-settings.js';
import { type AccountAnswer, accountView, withoutTokens } from './account.view.js';

type Answer = Plain<AccountAnswer>;

@Injectable()
export class AccountResource implements CrudResource<Account, Answer, AccountDraft, AccountChange> {
  readonly name = 'accounts';
  readonly noun = 'account';
  readonly idPrefix = 'acct';
  readonly table = ACCOUNTS;
  readonly view = accountView;
  readonly refusals = {};

  constructor(
    private readonly accounts: AccountStore,
    private readonly defaults: AdminDefaults,
    private readonly prices: CodePrices,
  ) {}

  /** The accounts with the view of the engineer's role. */
  seenBy(by: Engineer): AdminResource<Account, Answer> {
    return maskedFor(by, this, withoutTokens);
  }

  async create(tx: Executor, { name, ...rest }: AccountDraft): Reply<Account, Answer> {
    if (!(await this.mayCap(tx, rest))) return NO_PRICE;
    const { otpCountries } = this.defaults;
    const draft = { otpCountries, ...settingsOf(rest), name };
    const { account, ...secrets } = await this.accounts.createAccount(tx, draft);
    return succeed({ row: account, once: secrets });
  }

  async update(tx: Executor, account: Account, change: AccountChange): Reply<Account, Answer> {
    if (!(await this.mayCap(tx, change))) return NO_PRICE;
    return succeed({
      row: await this.accounts.updateAccount(tx, { ...account, ...settingsOf(change) }),
    });
  }

  /** A code without a price cannot be counted against a cap, so a cap needs a price for every country. */
  private async mayCap(tx: Executor, { otpDailySpendCapUsd: cap }: Plain<AccountChange>): Promise<boolean> {
    return cap === undefined || cap === null || (await this.prices.lockEveryCountryPrice(tx));
  }
}

const NO_PRICE = refuse('VALIDATION_ERROR', {
  field: 'otpDailySpendCapUsd',
  message: 'A spend cap needs a price of sms_otp for "*" that is in force: create one first.',
});
