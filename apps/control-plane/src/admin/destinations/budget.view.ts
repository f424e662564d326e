import type { Account } from '@countersign/accounts/accounts';
import { renderUsd } from '@countersign/accounts/prices';
import { renderId } from '@countersign/ids';
import { ApiProperty } from '@nestjs/swagger';
import type { AccountBudgets, Budget } from '../../guard/budgets.js';
import { ACCOUNT_FIELDS } from '../accounts/account.view.js';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { idField, USD_PATTERN } from '../crud/view-fields.js';

const COUNT = { type: 'integer', minimum: 0 } as const;

class BudgetWindow {
  @ApiProperty({ ...COUNT, description: 'Codes that were sent.' })
  readonly sends!: number;

  @ApiProperty({ ...COUNT, description: 'Of these, codes whose sessions are not approved.' })
  readonly unconverted!: number;

  @ApiProperty({
    ...COUNT,
    description:
      'From this number of unconverted codes on, codes to unknown phones in blocks of numbers that convert too little are refused: the floor of the account, and four for each phone that approved.',
  })
  readonly allowed!: number;
}

export class BudgetAnswer {
  @ApiProperty(idField('acct'))
  readonly id!: string;

  @ApiProperty({ type: 'string', description: 'The name of the account.', example: 'Acme' })
  readonly name!: string;

  @ApiProperty({ type: BudgetWindow, description: 'The last hour.' })
  readonly lastHour!: Plain<BudgetWindow>;

  @ApiProperty({ type: BudgetWindow, description: 'This UTC day.' })
  readonly today!: Plain<BudgetWindow>;

  @ApiProperty(ACCOUNT_FIELDS.otpDailyMessageCap)
  readonly dailyMessageCap!: number;

  @ApiProperty({
    type: 'string',
    pattern: USD_PATTERN,
    description: 'Spent on codes on this UTC day.',
    example: '1.58',
  })
  readonly spentTodayUsd!: string;

  @ApiProperty(ACCOUNT_FIELDS.otpDailySpendCapUsd)
  readonly dailySpendCapUsd!: string | null;
}

export class BudgetList extends PageOf(BudgetAnswer) {}

export type AccountWithBudgets = Account & { readonly budgets: AccountBudgets };

const windowView = ({ sends, unconverted, allowed }: Budget): Plain<BudgetWindow> => ({ sends, unconverted, allowed });

export function budgetView({ id, name, budgets, ...limits }: AccountWithBudgets): Plain<BudgetAnswer> {
  const { otpDailyMessageCap, otpDailySpendCapUsd: cap } = limits;
  const { lastHour, today, spentToday } = budgets;
  const spent = `${spentToday / 1_000_000n}.${String(spentToday % 1_000_000n).padStart(6, '0')}`;
  return {
    id: renderId('acct', id),
    name,
    lastHour: windowView(lastHour),
    today: windowView(today),
    dailyMessageCap: otpDailyMessageCap,
    spentTodayUsd: renderUsd(spent),
    dailySpendCapUsd: cap === null ? null : renderUsd(cap),
  };
}
