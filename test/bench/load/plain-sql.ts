import pg from 'pg';
import type { MeteredProcess } from '../cpu/use.js';
import type { PlainStatement } from '../plain-rows.js';
import type { Measure } from '../report.js';
import { keepUnderWay } from './pace.js';

/** Runs the transactions, one statement at a time, on the given number of connections. */
export interface PlainSqlTask {
  readonly databaseUrl: string;
  readonly transactions: readonly (readonly PlainStatement[])[];
  readonly clients: number;
  readonly seconds: number;
  readonly processes: readonly MeteredProcess[];
}

interface Answered {
  readonly id: string;
  readonly digest: string;
}

/** A statement uses either `:id` or `:digest`, never both. */
function prepared({ sql }: PlainStatement, name: string, { id, digest }: Answered): pg.QueryConfig {
  const text = sql.replaceAll(/:(?:id|digest)\b/g, '$1');
  if (text === sql) return { name, text };
  return { name, text, values: [sql.includes(':digest') ? digest : id] };
}

async function verification(client: pg.Client, { transactions }: PlainSqlTask): Promise<void> {
  let answered: Answered = { id: '', digest: '' };
  for (const [number, statements] of transactions.entries()) {
    await client.query('BEGIN');
    for (const [at, statement] of statements.entries()) {
      const { rows } = await client.query<Answered>(prepared(statement, `plain-${number}-${at}`, answered));
      if (statement.answersIds && rows[0] !== undefined) [answered] = rows;
    }
    await client.query('COMMIT');
  }
}

async function run(task: PlainSqlTask): Promise<Measure> {
  const clients = Array.from({ length: task.clients }, () => new pg.Client({ connectionString: task.databaseUrl }));
  await Promise.all(clients.map((client) => client.connect()));
  const free = [...clients];
  const begin = (onDone: (well: boolean) => void): void => {
    const client = free.pop();
    if (client === undefined) throw new Error('more under way than there are connections');
    const over = (well: boolean): void => {
      free.push(client);
      onDone(well);
    };
    verification(client, task).then(
      () => over(true),
      (error: unknown) => {
        process.stderr.write(`plain SQL: ${String(error)}\n`);
        over(false);
      },
    );
  };
  const measure = await keepUnderWay(task.clients, task.seconds, begin, task.processes);
  await Promise.all(clients.map((client) => client.end()));
  return measure;
}

process.once('message', (task: PlainSqlTask) => {
  void run(task).then((measure) => process.send?.(measure, () => process.disconnect()));
});
