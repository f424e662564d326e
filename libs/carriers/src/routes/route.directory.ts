import type { Executor } from '@countersign/postgres';
import { RowCache } from '@countersign/resilience';
import { LIST_CANDIDATES, LIST_OPEN_ROUTES } from './route.sql.js';
import type { Route } from './route.entity.js';

/** The cache key of all routes: every query needs all of them. */
const ALL = 'all';

/** A route whose prefix a number has. */
export interface CandidateRoute extends Route {
  /** Whether its bind or system is enabled. */
  readonly targetEnabled: boolean;
  /** False for a bind as receiver, and for a system that may bind as transmitter only. */
  readonly carriesCodes: boolean;
  /** Whether gateways consider it: it and its target are enabled and carry codes. */
  readonly usable: boolean;
}

/** A usable route. */
export interface OpenRoute extends Route {
  /** Whether its bind or system is trusted for MO: then an owner alone decides which peer it is. */
  readonly targetTrusted: boolean;
}

/** The routes whose prefix a number has, usable or not, the most specific ones first; not cached. */
export function candidateRoutes(db: Executor, e164: string, limit: number): Promise<CandidateRoute[]> {
  return db.query<CandidateRoute>(LIST_CANDIDATES, [e164, limit]);
}

/** Routes for sending, through a copy that is at most 3 s old. Rejects as the database does. */
export class RouteDirectory {
  private readonly routes: RowCache<readonly OpenRoute[]>;

  constructor(db: Executor) {
    this.routes = new RowCache({ load: () => db.query<OpenRoute>(LIST_OPEN_ROUTES) });
  }

  /** Usable routes: enabled, to an enabled bind or system that may carry codes. In no particular order (see `routesInOrder`). */
  async usableRoutes(): Promise<readonly OpenRoute[]> {
    return (await this.routes.get(ALL)) ?? [];
  }
}
