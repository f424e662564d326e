import { Body, Controller, Param, Query } from '@nestjs/common';
import { NoBodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { DeliveryRetries } from '../../webhooks/delivery-retries.js';
import { AdminService } from '../crud/admin.service.js';
import { Acts, Lists, Shows } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { AuditedReads } from '../crud/audited-reads.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import type { Plain } from '../crud/plain.js';
import { DeliveriesQuery } from './delivery.dto.js';
import { DeliveryResource } from './delivery.resource.js';
import { DeliveryDetailAnswer, DeliveryRecordList } from './delivery.view.js';

const DELIVERY = {
  resource: 'deliveries',
  id: 'DeliveryRecord',
  one: 'a webhook delivery',
  many: 'webhook deliveries',
} as const;

@Controller('v1/admin/deliveries')
export class DeliveriesController {
  constructor(
    private readonly admin: AdminService,
    private readonly reads: AuditedReads,
    private readonly deliveries: DeliveryResource,
    private readonly retries: DeliveryRetries,
  ) {}

  @Lists(DELIVERY, DeliveryRecordList, { description: 'Webhooks of all accounts, without their bodies.' })
  async list(@ByEngineer() by: Engineer, @Query(QueryPipe) query: DeliveriesQuery): Promise<Plain<DeliveryRecordList>> {
    return valueOf(await this.admin.list(this.deliveries.listSeenBy(by, query), query));
  }

  /** The body contains a phone, so each reading adds an entry to the audit log. */
  @Shows(DELIVERY, DeliveryDetailAnswer)
  async find(@ByEngineer() by: Engineer, @Param('id') id: string): Promise<Plain<DeliveryDetailAnswer>> {
    return valueOf(await this.reads.find(this.deliveries.seenBy(by), by, id));
  }

  @Acts(DELIVERY, { name: 'retry', summary: 'Send again' }, DeliveryDetailAnswer, {
    description:
      'One more attempt at once, with the same `webhook-id` and the same bytes, beside the scheduled ones, as `POST /v1/webhooks/deliveries/{id}/retry` of the account.',
  })
  async retry(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<DeliveryDetailAnswer>> {
    const retry = { id, action: 'retry' };
    const shown = await this.admin.act(this.deliveries, by, retry, (tx, row) => this.deliveries.retry(tx, row));
    if (shown.ok) this.retries.wake(shown.value.url);
    return valueOf(shown);
  }
}
