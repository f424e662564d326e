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
import { RouteChange, RouteDraft } from './route.dto.js';
import { RouteResource } from './route.resource.js';
import { RouteAnswer, RouteList } from './route.view.js';

const ROUTE = { resource: 'routes', id: 'Route', one: 'a route', many: 'routes' } as const;

@Controller('v1/admin/routes')
export class RoutesController {
  constructor(
    private readonly admin: AdminService,
    private readonly routes: RouteResource,
  ) {}

  @Lists(ROUTE, RouteList)
  async list(@ByEngineer() by: Engineer, @Query(QueryPipe) query: PageQuery): Promise<Plain<RouteList>> {
    return valueOf(await this.admin.list(this.routes.seenBy(by), query));
  }

  @Creates(ROUTE, RouteAnswer, {
    description:
      'The longest prefix of a number decides, then the lowest priority, then random choice by weight; the next route is used when a bind is down. It takes effect with the next code.',
  })
  async create(@ByEngineer() by: Engineer, @Body(BodyPipe) body: RouteDraft): Promise<Plain<RouteAnswer>> {
    return valueOf(await this.admin.create(this.routes, by, (tx) => this.routes.create(tx, body)));
  }

  @Shows(ROUTE, RouteAnswer)
  async find(@ByEngineer() by: Engineer, @Param('id') id: string): Promise<Plain<RouteAnswer>> {
    return valueOf(await this.admin.find(this.routes.seenBy(by), id));
  }

  @Updates(ROUTE, RouteAnswer)
  async update(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(BodyPipe) body: RouteChange,
  ): Promise<Plain<RouteAnswer>> {
    return valueOf(await this.admin.update(this.routes, by, id, (tx, row) => this.routes.update(tx, row, body)));
  }

  @Deletes(ROUTE, { description: 'Codes that are already queued keep their route.' })
  async remove(@ByEngineer() by: Engineer, @Param('id') id: string, @Body(NoBodyPipe) _nothing: null): Promise<void> {
    valueOf(await this.admin.remove(this.routes, by, id, (tx, row) => this.routes.delete(tx, row)));
  }
}
