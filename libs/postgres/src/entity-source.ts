import { DataSource, DefaultNamingStrategy, type EntityManager, getMetadataArgsStorage } from 'typeorm';
import { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { QueryResult } from 'typeorm/query-runner/QueryResult.js';
import type { Executor } from './executor.js';
import { columnName } from './entity-columns.js';

class SnakeCaseNames extends DefaultNamingStrategy {
  override columnName(property: string, declared: string | undefined): string {
    return declared ?? columnName(property);
  }
}

/** Metadata of all entities that are imported when it loads. It never connects: statements run on an Executor. */
class EntitySource extends DataSource {
  static async load(): Promise<EntitySource> {
    const entities = getMetadataArgsStorage().tables.map(({ target }) => target);
    const source = new EntitySource({ type: 'postgres', entities, namingStrategy: new SnakeCaseNames() });
    await source.buildMetadatas();
    return source;
  }
}

let loading: { readonly count: number; readonly source: Promise<DataSource> } | undefined;

/** TypeORM's metadata of all entities, loaded again when more of them have been imported. */
export function entitySource(): Promise<DataSource> {
  const count = getMetadataArgsStorage().tables.length;
  if (loading?.count !== count) loading = { count, source: EntitySource.load() };
  return loading.source;
}

/** Runs TypeORM's statements on an Executor, with its deadline and its errors. */
class ExecutorQueryRunner extends PostgresQueryRunner {
  // The owner of the executor opens and ends the transaction; row locks are only taken within one.
  override readonly isTransactionActive = true;

  constructor(
    driver: PostgresDriver,
    private readonly executor: Executor,
  ) {
    super(driver, 'master');
  }

  /** TypeORM's builders ask for the structured result only. */
  override async query(text: string, values: readonly unknown[] = []): Promise<QueryResult> {
    const records = await this.executor.query(text, values);
    return Object.assign(new QueryResult(), { raw: records, records });
  }
}

/** An entity manager whose statements run on `db`. */
export async function entityManager(db: Executor): Promise<EntityManager> {
  const source = await entitySource();
  if (!(source.driver instanceof PostgresDriver)) throw new Error('entities are of PostgreSQL');
  return source.createEntityManager(new ExecutorQueryRunner(source.driver, db));
}
