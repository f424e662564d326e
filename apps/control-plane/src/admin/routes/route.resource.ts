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

const NO_SUCH_SYSTEM = {
  code: 'VALIDATION_ERROR',
  field: 'smppSystemId',
  message: 'There is no SMPP system with this id.',
} as const satisfies Refusal;

const NO_TARGET = {
  code: 'VALIDATION_ERROR',
  field: 'bindId',
  message: 'A route needs a bindId, or a smppSystemId.',
} as const satisfies Refusal;

const TWO_TARGETS = {
  code: 'VALIDATION_ERROR',
  field: 'smppSystemId',
  message: 'A route leads to a bind or to an SMPP system: give one of bindId and smppSystemId.',
} as const satisfies Refusal;

type Target = Pick<Route, 'bindId' | 'systemId'>;
interface SentTarget {
  readonly bindId: string | null | undefined;
  readonly smppSystemId: string | null | undefined;
}

@Injectable()
export class RouteResource implements CrudResource<Route, Answer, RouteDraft, RouteChange> {
  readonly name = 'routes';
  readonly noun = 'route';
  readonly idPrefix = 'route';
  readonly table = ROUTES;
  readonly view = routeView;
  readonly refusals = { routes_bind_id_fkey: NO_SUCH_BIND, routes_system_id_fkey: NO_SUCH_SYSTEM };

  constructor(private readonly carriers: CarrierStore) {}

  /** The routes with the view of the engineer's role. */
  seenBy(by: Engineer): AdminResource<Route, Answer> {
    return maskedFor(by, this, withoutPerson);
  }

  async create(tx: Executor, { prefix, bindId, smppSystemId, ...rest }: RouteDraft): Reply<Route, Answer> {
    const target = targetOf({ bindId, smppSystemId }, NO_TARGET_YET);
    if ('code' in target) return { ok: false, refusal: target };
    return succeed({ row: await this.carriers.createRoute(tx, { ...stored(rest), ...target, prefix }) });
  }

  async update(tx: Executor, route: Route, { bindId, smppSystemId, ...change }: RouteChange): Reply<Route, Answer> {
    const target = targetOf({ bindId, smppSystemId }, route);
    if ('code' in target) return { ok: false, refusal: target };
    return succeed({ row: await this.carriers.updateRoute(tx, { ...route, ...stored(change), ...target }) });
  }

  delete(tx: Executor, { id }: Route): Promise<void> {
    return this.carriers.deleteRoute(tx, id);
  }
}

function stored({ costUsd, submitOptions, ...rest }: Omit<Plain<RouteChange>, keyof SentTarget>): Partial<Route> {
  const options = storedSubmitOptions(submitOptions);
  return { ...rest, ...options, ...(costUsd === undefined ? {} : { costUsd: String(costUsd) }) };
}

const NO_TARGET_YET: Target = { bindId: null, systemId: null };

/** The target that a body leaves a route with. A new target replaces the other kind, which need not be sent as null. */
function targetOf(sent: SentTarget, { bindId, systemId }: Target): Target | Refusal {
  if (isGiven(sent.bindId) && isGiven(sent.smppSystemId)) return TWO_TARGETS;
  if (isGiven(sent.bindId)) {
    const id = parseId('bind', sent.bindId);
    return id === null ? NO_SUCH_BIND : { bindId: id, systemId: null };
  }
  if (isGiven(sent.smppSystemId)) {
    const id = parseId('sys', sent.smppSystemId);
    return id === null ? NO_SUCH_SYSTEM : { bindId: null, systemId: id };
  }
  const kept = {
    bindId: sent.bindId === null ? null : bindId,
    systemId: sent.smppSystemId === null ? null : systemId,
  };
  return kept.bindId === null && kept.systemId === null ? NO_TARGET : kept;
}

const isGiven = (id: string | null | undefined): id is string => id !== null && id !== undefined;
