import { GATEWAYS } from '@countersign/carriers/records';
import { Controller, Param, Query } from '@nestjs/common';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminService } from '../crud/admin.service.js';
import { Lists, Shows } from '../crud/admin-operations.js';
import { PageQuery } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { GatewayAnswer, GatewayList, gatewayView } from './gateway.view.js';

const GATEWAY = { resource: 'gateways', id: 'Gateway', one: 'a gateway', many: 'gateways' } as const;
const LIVE = {
  name: 'gateways',
  noun: 'living gateway',
  idPrefix: 'gw',
  table: GATEWAYS,
  view: gatewayView,
  refusals: {},
} as const;

@Controller('v1/admin/gateways')
export class GatewaysController {
  constructor(private readonly admin: AdminService) {}

  @Lists(GATEWAY, GatewayList, {
    description: 'Gateways with a heartbeat in the last 15 s, and the connections they hold.',
  })
  async list(@Query(QueryPipe) query: PageQuery): Promise<Plain<GatewayList>> {
    return valueOf(await this.admin.list(LIVE, query));
  }

  @Shows(GATEWAY, GatewayAnswer)
  async find(@Param('id') id: string): Promise<Plain<GatewayAnswer>> {
    return valueOf(await this.admin.find(LIVE, id));
  }
}
