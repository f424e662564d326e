import type { Executor } from '@countersign/postgres';
import { RowCache } from '@countersign/resilience';
import { LIST_OPEN_ROUTES } from './route.sql.js';
import type { Route } from './route.entity.js';

/** The cache key of all routes: every query needs all of them. */
const ALL = 'all';

/** Routes for sending, through a copy that is at most 3 s old. Rejects as the database does. */
export class RouteDirectory {
  private readonly routes: RowCache<readonly Route[]>;

  constructor(db: Executor) {
    this.routes = new RowCache({ load: () => db.query<Route>(LIST_OPEN_ROUTES) });
  }

  /** Usable routes: enabled, to an enabled bind or system that may carry codes. In no particular order (see `routesInOrder`). */
  async usableRoutes(): Promise<readonly Route[]> {
    return (await this.routes.get(ALL)) ?? [];
  }
}
