import { Controller } from '@nestjs/common';
import { CrudController } from '../crud/crud.controller.js';
import { Creates, Deletes, Lists, Shows, Updates } from '../crud/admin-operations.js';
import { RouteChange, RouteDraft } from './route.dto.js';
import { RouteResource } from './route.resource.js';
import { RouteAnswer, RouteList } from './route.view.js';

const ROUTE = { resource: 'routes', id: 'Route', one: 'a route', many: 'routes' } as const;

@Controller('v1/admin/routes')
export class RoutesController extends CrudController(RouteResource, {
  list: Lists(ROUTE, RouteList),
  create: Creates(ROUTE, RouteAnswer, {
    description:
      'The longest prefix of a number decides, then the lowest priority, then random choice by weight; the next route is used when a bind is down or a system not connected. It takes effect with the next code.',
  }),
  get: Shows(ROUTE, RouteAnswer),
  update: Updates(ROUTE, RouteAnswer),
  delete: Deletes(ROUTE, { description: 'Codes that are already queued keep their route.' }),
  draft: RouteDraft,
  change: RouteChange,
}) {}
