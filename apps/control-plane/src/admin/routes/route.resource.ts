import { CarrierStore } from '@countersign/carriers/config';
import { ROUTES } from '@countersign/carriers/records';
import type { Route } from '@countersign/carriers/routes';
import { parseId } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { succeed, type Refusal } from '../../http/errors.js';
import type { AdminResource, CrudResource, Engineer, Reply } from '../crud/admin-resource.js';
import { maskedFor } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { storedSubmitOptions } from '../crud/submit-options.js';
import type { RouteChange, RouteDraft } from './route.dto.js';
import { type RouteAnswer, routeView, withoutPerson } from './route.view.js';

type Answer = Plain<RouteAnswer>;

const NO_SUCH_BIND = {
  code: 'VALIDATION_ERROR',
  field: 'bindId',
  message: 'There is no bind with this id.',
} as const satisfies Refusal;

@Injectable()
export class RouteResource implements CrudResource<Route, Answer, RouteDraft, RouteChange> {
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

  async create(tx: Executor, { prefix, bindId: sentId, ...rest }: RouteDraft): Reply<Route, Answer> {
    const bindId = parseId('bind', sentId);
    if (bindId === null) return { ok: false, refusal: NO_SUCH_BIND };
    return succeed({ row: await this.carriers.createRoute(tx, { ...stored(rest), prefix, bindId }) });
  }

  async update(tx: Executor, route: Route, { bindId: sentId, ...change }: RouteChange): Reply<Route, Answer> {
    const bindId = sentId === undefined ? route.bindId : parseId('bind', sentId);
    if (bindId === null) return { ok: false, refusal: NO_SUCH_BIND };
    return succeed({ row: await this.carriers.updateRoute(tx, { ...route, ...stored(change), bindId }) });
  }

  delete(tx: Executor, { id }: Route): Promise<void> {
    return this.carriers.deleteRoute(tx, id);
  }
}

function stored({ costUsd, submitOptions, ...rest }: Omit<Plain<RouteChange>, 'bindId'>): Partial<Route> {
  const options = storedSubmitOptions(submitOptions);
  return { ...rest, ...options, ...(costUsd === undefined ? {} : { costUsd: String(costUsd) }) };
}
