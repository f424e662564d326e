import type { Database } from '@countersign/postgres';

/** Tables like the product's, with the same columns, checks and indexes, without partitions. */
const TABLES = ['sessions', 'messages', 'events', 'deliveries'] as const;
type Table = (typeof TABLES)[number];
type Columns = Readonly<Record<string, unknown>>;

/** The latest completed verification: its rows are the template. */
const LATEST = `
  SELECT session_id AS "sessionId", id AS "eventId" FROM deliveries
  WHERE status = 'succeeded' AND type = 'verification.completed' ORDER BY id DESC LIMIT 1`;

/** A statement; the first statement returns `:id` and `:digest`. */
export interface PlainStatement {
  readonly sql: string;
  readonly answersIds: boolean;
}

const literal = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // A colon before a letter would be a variable.
  return `'${text.replaceAll("'", "''").replaceAll(/:(?=[A-Za-z_])/g, ': ')}'`;
};

/** The columns of a row with their values as SQL; `changes` are SQL already, null omits a column. */
function valuesOf(row: Columns, changes: Readonly<Record<string, string | null>>): [names: string, values: string] {
  const written = Object.entries(row).flatMap(([name, value]): [string, string][] => {
    const changed = changes[name];
    if (changed !== undefined) return changed === null ? [] : [[name, changed]];
    return value === null ? [] : [[name, literal(value)]];
  });
  return [written.map(([name]) => name).join(', '), written.map(([, value]) => value).join(', ')];
}

function insert(table: Table, row: Columns, changes: Readonly<Record<string, string | null>>): string {
  const [names, values] = valuesOf(row, changes);
  return `INSERT INTO plain_${table} (${names}) VALUES (${values})`;
}

/** Ids in the order of insertion, as the product's are. */
function insertSession(row: Columns): string {
  const [names, values] = valuesOf(row, {
    id: `lpad(to_hex(n), 32, '0')::uuid`,
    token_digest: 'sha256(int8send(n))',
    status: `'pending'`,
    ended_at: null,
    approved_by: null,
  });
  return `INSERT INTO plain_sessions (${names}) SELECT ${values} FROM nextval('plain_ids') AS n
    RETURNING id, encode(token_digest, 'hex') AS digest`;
}

/**
 * Prepares the writes of a verification as three transactions of plain statements: the session; the message, the
 * session's end and its event; the event's delivery. The product must have completed a verification before.
 */
export async function preparePlainRows(database: Database): Promise<PlainStatement[][]> {
  for (const table of TABLES) {
    await database.query(`DROP TABLE IF EXISTS plain_${table}`);
    await database.query(`CREATE TABLE plain_${table} (LIKE ${table} INCLUDING ALL)`);
  }
  await database.query('CREATE SEQUENCE IF NOT EXISTS plain_ids');
  const [latest] = await database.query<{ sessionId: string; eventId: string }>(LATEST);
  if (latest === undefined) throw new Error('nothing was verified and told before');
  const rowOf = async (table: Table, column: string, id: string): Promise<Columns> => {
    const sql = `SELECT to_jsonb(found) AS row FROM ${table} AS found WHERE ${column} = $1 LIMIT 1`;
    const [found] = await database.query<{ row: Columns }>(sql, [id]);
    if (found === undefined) throw new Error(`a verification without its row in ${table}`);
    return found.row;
  };
  const { sessionId, eventId } = latest;
  const ids = { id: ':id', session_id: ':id' };
  const texts = [
    [insertSession(await rowOf('sessions', 'id', sessionId))],
    [
      `SELECT id FROM plain_sessions WHERE token_digest = decode(:digest, 'hex') FOR UPDATE`,
      insert('messages', await rowOf('messages', 'session_id', sessionId), ids),
      `UPDATE plain_sessions SET status = 'approved', ended_at = clock_timestamp(), approved_by = 'mo'
        WHERE id = :id AND status = 'pending'`,
      insert('events', await rowOf('events', 'id', eventId), { ...ids, dispatched_at: null }),
    ],
    [
      `UPDATE plain_events SET dispatched_at = clock_timestamp() WHERE id = :id`,
      insert('deliveries', await rowOf('deliveries', 'id', eventId), ids),
    ],
  ];
  return texts.map((transaction) =>
    transaction.map((sql) => ({ sql: sql.replaceAll(/\s+/g, ' '), answersIds: sql.includes(' AS digest') })),
  );
}
