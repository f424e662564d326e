import { Body, Controller, Param, Query } from '@nestjs/common';
import { BodyPipe, NoBodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminService } from '../crud/admin.service.js';
import { Creates, Deletes, Lists, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { PageQuery } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { InboundNumberChange, InboundNumberDraft } from './inbound-number.dto.js';
import { InboundNumberResource } from './inbound-number.resource.js';
import { InboundNumberAnswer, InboundNumberList } from './inbound-number.view.js';

const NUMBER = {
  resource: 'inbound-numbers',
  id: 'InboundNumber',
  one: 'an inbound number',
  many: 'inbound numbers',
} as const;

/** National senders of messages to a short code are read in its countries. */
const TRUST = 'For a short code, while a bind or system has trustedForMo, this needs the role `owner`.';

@Controller('v1/admin/inbound-numbers')
export class InboundNumbersController {
  constructor(
    private readonly admin: AdminService,
    private readonly numbers: InboundNumberResource,
  ) {}

  @Lists(NUMBER, InboundNumberList)
  async list(@Query(QueryPipe) query: PageQuery): Promise<Plain<InboundNumberList>> {
    return valueOf(await this.admin.list(this.numbers, query));
  }

  @Creates(NUMBER, InboundNumberAnswer, {
    description: `New sessions of its countries use it at once. ${TRUST}`,
    errors: ['CONFLICT'],
  })
  async create(
    @ByEngineer() by: Engineer,
    @Body(BodyPipe) body: InboundNumberDraft,
  ): Promise<Plain<InboundNumberAnswer>> {
    return valueOf(await this.admin.create(this.numbers, by, (tx) => this.numbers.create(tx, by, body)));
  }

  @Shows(NUMBER, InboundNumberAnswer)
  async find(@Param('id') id: string): Promise<Plain<InboundNumberAnswer>> {
    return valueOf(await this.admin.find(this.numbers, id));
  }

  @Updates(NUMBER, InboundNumberAnswer, {
    description: `Existing sessions keep their inbound number. ${TRUST}`,
    errors: ['CONFLICT'],
  })
  async update(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(BodyPipe) body: InboundNumberChange,
  ): Promise<Plain<InboundNumberAnswer>> {
    return valueOf(await this.admin.update(this.numbers, by, id, (tx, row) => this.numbers.update(tx, by, row, body)));
  }

  @Deletes(NUMBER, { description: `Existing sessions keep their inbound number. ${TRUST}` })
  async remove(@ByEngineer() by: Engineer, @Param('id') id: string, @Body(NoBodyPipe) _nothing: null): Promise<void> {
    valueOf(await this.admin.remove(this.numbers, by, id, (tx, row) => this.numbers.delete(tx, row)));
  }
}
