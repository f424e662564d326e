import { CarrierStore } from '@countersign/carriers/config';
import { ROUTES } from '@countersign/carriers/records';
import type { Route } from '@countersign/carriers/routes';
import { parseId } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { succeed, type Outcome, type Refusal } from '../../http/errors.js';
import type { AdminResource, Engineer, Written } from '../crud/admin-resource.js';
import { maskedFor } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import type { RouteChange, RouteDraft } from './route.dto.js';
import { type RouteAnswer, routeView, withoutPerson } from './route.view.js';

type Answer = Plain<RouteAnswer>;
type Reply = Promise<Outcome<Written<Route, Answer>>>;

const NO_SUCH_BIND = {
  code: 'VALIDATION_ERROR',
  field: 'bindId',
  message: 'There is no bind with this id.',
} as const satisfies Refusal;

@Injectable()
export class RouteResource implements AdminResource<Route, Answer> {
  readonly name = 'routes';
  readonly noun = 'route';
  readonly idPrefix = 'route';
  readonly table = ROUTES;
  readonly view = routeView;
  readonly refusals = { routes_bind_id_fkey: NO_SUCH_BIND };

  constructor(private readonly carriers: CarrierStore) {}

  /** The routes with the view of the engineer's role. */
  seenBy(by: Engineer): AdminResource<Route, Answer> {
    return maskedFor(by, this, withoutPerson);
  }

  async create(tx: Executor, { prefix, bindId: sentId, ...rest }: RouteDraft): Reply {
    const bindId = parseId('bind', sentId);
    if (bindId === null) return { ok: false, refusal: NO_SUCH_BIND };
    return succeed({ row: await this.carriers.createRoute(tx, { ...stored(rest), prefix, bindId }) });
  }

  async update(tx: Executor, route: Route, { bindId: sentId, ...change }: RouteChange): Reply {
    const bindId = sentId === undefined ? route.bindId : parseId('bind', sentId);
    if (bindId === null) return { ok: false, refusal: NO_SUCH_BIND };
    return succeed({ row: await this.carriers.updateRoute(tx, { ...route, ...stored(change), bindId }) });
  }

  delete(tx: Executor, { id }: Route): Promise<void> {
    return this.carriers.deleteRoute(tx, id);
  }
}

function stored({ costUsd, ...rest }: Omit<Plain<RouteChange>, 'bindId'>): Partial<Route> {
  return { ...rest, ...(costUsd === undefined ? {} : { costUsd: String(costUsd) }) };
}
