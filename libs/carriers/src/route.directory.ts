import { RowCache, type Executor } from '@countersign/postgres';
import { LIST_OPEN_ROUTES } from './route.sql.js';
import { routesInOrder, type Chance, type Route } from './route.js';

/** All routes are one entry: every question about them looks at all of them. */
const ALL = 'all';

/** Routes as every message needs them: through a copy that is at most 3 s old. Rejects as the database does. */
export class RouteDirectory {
  private readonly routes: RowCache<readonly Route[]>;

  constructor(
    db: Executor,
    private readonly chance: Chance = Math.random,
  ) {
    this.routes = new RowCache({ load: () => db.query<Route>(LIST_OPEN_ROUTES) });
  }

  /** All routes that are open. */
  async open(): Promise<readonly Route[]> {
    return (await this.routes.get(ALL)) ?? [];
  }

  /**
   * The routes a number may go, best first (see `routesInOrder`): enabled, by an enabled bind that may send. Empty when
   * there is none, as the database says now: a route that was just made works at once.
   */
  async routesFor(e164: string): Promise<Route[]> {
    const seen = await this.open();
    const known = routesInOrder(seen, e164, this.chance);
    if (known.length > 0) return known;
    return routesInOrder((await this.routes.getNewer(ALL, seen)) ?? [], e164, this.chance);
  }
}
