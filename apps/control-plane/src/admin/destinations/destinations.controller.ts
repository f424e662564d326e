import { Body, Controller, Param, Query } from '@nestjs/common';
import { BodyPipe, NoBodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminService } from '../crud/admin.service.js';
import { Creates, Deletes, Lists, ListsOnly, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { AccountPageQuery } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { DestinationChange, DestinationDraft } from './destination.dto.js';
import { DestinationResource } from './destination.resource.js';
import { DestinationAnswer, DestinationList } from './destination.view.js';
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

@Controller('v1/admin/destinations')
export class DestinationsController {
  constructor(
    private readonly admin: AdminService,
    private readonly rules: DestinationResource,
  ) {}

  @Lists(RULE, DestinationList, { description: 'Rules of engineers, and current blocks of the guard.' })
  async list(@ByEngineer() by: Engineer, @Query(QueryPipe) query: AccountPageQuery): Promise<Plain<DestinationList>> {
    return valueOf(await this.admin.list(this.rules.seenBy(by), query));
  }

  @ListsOnly(REFUSALS, RefusalList, {
    description: 'Codes that were not sent, by account, rule, block of numbers and hour.',
  })
  async listRefusals(
    @ByEngineer() by: Engineer,
    @Query(QueryPipe) query: AccountPageQuery,
  ): Promise<Plain<RefusalList>> {
    return valueOf(await this.admin.list(this.rules.talliesSeenBy(by), query));
  }

  @Creates(RULE, DestinationAnswer, {
    description: 'By default it concerns all accounts and does not expire. It takes effect with the next code.',
    errors: ['CONFLICT'],
  })
  async create(@ByEngineer() by: Engineer, @Body(BodyPipe) body: DestinationDraft): Promise<Plain<DestinationAnswer>> {
    return valueOf(await this.admin.create(this.rules, by, (tx) => this.rules.create(tx, body)));
  }

  @Shows(RULE, DestinationAnswer)
  async find(@ByEngineer() by: Engineer, @Param('id') id: string): Promise<Plain<DestinationAnswer>> {
    return valueOf(await this.admin.find(this.rules.seenBy(by), id));
  }

  @Updates(RULE, DestinationAnswer, { description: 'Rules of the guard cannot be changed.', errors: ['CONFLICT'] })
  async update(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(BodyPipe) body: DestinationChange,
  ): Promise<Plain<DestinationAnswer>> {
    return valueOf(await this.admin.update(this.rules, by, id, (tx, row) => this.rules.update(tx, row, body)));
  }

  @Deletes(RULE, {
    description: 'Deleting a block of the guard lifts it and resets its history: the next block lasts an hour again.',
  })
  async remove(@ByEngineer() by: Engineer, @Param('id') id: string, @Body(NoBodyPipe) _nothing: null): Promise<void> {
    valueOf(await this.admin.remove(this.rules, by, id, (tx, row) => this.rules.delete(tx, row)));
  }
}
