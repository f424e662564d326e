import { Controller, Query } from '@nestjs/common';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { CrudController } from '../crud/crud.controller.js';
import { Creates, Deletes, Lists, ListsOnly, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { AccountPageQuery, PageQuery } from '../crud/paging.js';
import { showsPeople } from '../crud/people.js';
import { BudgetList } from './budget.view.js';
import type { Plain } from '../crud/plain.js';
import { DestinationChange, DestinationDraft } from './destination.dto.js';
import { DestinationResource } from './destination.resource.js';
import { DestinationAnswer, DestinationList, withoutPerson } from './destination.view.js';
import { RefusalList } from './refusal.view.js';

const RULE = {
  resource: 'destinations',
  id: 'Destination',
  one: 'a destination rule',
  many: 'destination rules',
} as const;
const REFUSALS = {
  needs: 'destinations.list-refusals',
  ids: 'DestinationRefusals',
  many: 'counts of refusals by the guard',
  path: 'refusals',
} as const;
const BUDGETS = {
  needs: 'destinations.list-budgets',
  ids: 'Budgets',
  many: 'accounts with their budgets for codes',
  path: 'budgets',
} as const;

@Controller('v1/admin/destinations')
export class DestinationsController extends CrudController(DestinationResource, {
  list: Lists(RULE, DestinationList, {
    description:
      'Rules of engineers, and current blocks of the guard. A role that sees full phones adds an entry to the audit log with each page that has a whole one.',
  }),
  create: Creates(RULE, DestinationAnswer, {
    description: 'By default it concerns all accounts and does not expire. It takes effect with the next code.',
    errors: ['CONFLICT'],
  }),
  get: Shows(RULE, DestinationAnswer),
  update: Updates(RULE, DestinationAnswer, {
    description: 'Rules of the guard cannot be changed.',
    errors: ['CONFLICT'],
  }),
  delete: Deletes(RULE, {
    description: 'Deleting a block of the guard lifts it and resets its history: the next block lasts an hour again.',
  }),
  query: AccountPageQuery,
  draft: DestinationDraft,
  change: DestinationChange,
  holdsPeople: showsPeople(withoutPerson),
}) {
  @ListsOnly(REFUSALS, RefusalList, {
    description: 'Codes that were not sent, by account, rule, block of numbers and hour.',
  })
  async listRefusals(
    @ByEngineer() by: Engineer,
    @Query(QueryPipe) query: AccountPageQuery,
  ): Promise<Plain<RefusalList>> {
    return valueOf(await this.admin.list(this.resource.talliesSeenBy(by), query));
  }

  @ListsOnly(BUDGETS, BudgetList, {
    description: 'How much of its caps and of its conversion budget each account has used.',
  })
  async listBudgets(@Query(QueryPipe) query: PageQuery): Promise<Plain<BudgetList>> {
    return valueOf(await this.admin.list(this.resource.budgets, query));
  }
}
