import { ACCOUNTS } from '@countersign/accounts/records';
import { type DatabaseClock, type Executor, type Page, type PageRequest, type Records } from '@countersign/postgres';
import { readBudgets } from '../../guard/budgets.js';
import type { AccountWithBudgets } from './budget.view.js';

/** Accounts with what they have used of their limits. */
export class BudgetRecords implements Pick<Records<AccountWithBudgets>, 'list'> {
  constructor(private readonly clock: Pick<DatabaseClock, 'nowMs'>) {}

  async list(db: Executor, request: PageRequest): Promise<Page<AccountWithBudgets>> {
    const { rows, hasMore } = await ACCOUNTS.list(db, request);
    const owners = rows.map(({ id, otpUnconvertedFloor }) => ({ id, floor: otpUnconvertedFloor }));
    const budgets = await readBudgets(db, owners, new Date(this.clock.nowMs()));
    return { rows: rows.flatMap((row, at) => withBudgets(row, budgets[at])), hasMore };
  }
}

const withBudgets = (
  account: Omit<AccountWithBudgets, 'budgets'>,
  budgets: AccountWithBudgets['budgets'] | undefined,
): AccountWithBudgets[] => (budgets === undefined ? [] : [{ ...account, budgets }]);
