import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';

/** A place that holds readable text, and its text. */
export interface Evidence {
  /** `table.column`, `redis:key` or `file:name`. */
  readonly place: string;
  readonly text: string;
}

/** Every value of every column of every table, BullMQ's included; one entry for each value. */
export async function databaseEvidence(databaseUrl: string): Promise<Evidence[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: columns } = await client.query<{ table: string; schema: string; column: string }>(
      `SELECT column_name AS column, table_name AS table, table_schema AS schema
       FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
       WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`,
    );
    const found: Evidence[] = [];
    for (const { schema, table, column } of columns) {
      const from = `${client.escapeIdentifier(schema)}.${client.escapeIdentifier(table)}`;
      const { rows } = await client.query<{ text: string | null }>(
        `SELECT ${client.escapeIdentifier(column)}::text AS text FROM ${from}`,
      );
      // A partition counts as its table.
      const place = `${table.replace(/_p\d{8}$/, '')}.${column}`;
      found.push(...rows.flatMap(({ text }) => (text === null ? [] : [{ place, text }])));
    }
    return found;
  } finally {
    await client.end();
  }
}

async function valueOf(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, 0, -1);
    case 'stream':
      return redis.xrange(key, '-', '+');
    default:
      return null;
  }
}

/** Every key of Redis with its value: queues, their events and jobs, rate limits. */
export async function redisEvidence(redisUrl: string): Promise<Evidence[]> {
  const redis = new Redis(redisUrl);
  try {
    const keys = await redis.keys('*');
    return await Promise.all(
      keys.map(async (key) => ({ place: `redis:${key}`, text: `${key} ${JSON.stringify(await valueOf(redis, key))}` })),
    );
  } finally {
    redis.disconnect();
  }
}

/** Every log file of a run. */
export function logEvidence(dataDir: string): Evidence[] {
  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.log'));
  return files.map((file) => ({ place: `file:${file}`, text: readFileSync(path.join(dataDir, file), 'utf8') }));
}

/** The forms in which a secret might appear: plain, and its octets in hex and base64. */
function spellings(secret: string): string[] {
  const octets = Buffer.from(secret, 'utf8');
  const ofHex = /^(?:[0-9a-f]{2})+$/i.test(secret) ? [Buffer.from(secret, 'hex').toString('base64')] : [];
  return [secret, octets.toString('hex'), octets.toString('base64').replace(/=+$/, ''), ...ofHex];
}

/** Many numbers contain six digits: only a code that stands alone counts. */
const standsAlone = (code: string): RegExp => new RegExp(String.raw`(?<![\w.+-])${code}(?![\w.-])`, 'u');

/** The places where a secret is readable. A secret of six digits counts only as a separate word. */
export function placesOf(secret: string, evidence: readonly Evidence[]): string[] {
  const isCode = /^\d{6}$/.test(secret);
  const patterns = [secret, secret.toLowerCase()].flatMap(spellings).map((spelling) => spelling.toLowerCase());
  const holds = (text: string): boolean => {
    if (isCode) return standsAlone(secret).test(text);
    const lowered = text.toLowerCase();
    return patterns.some((spelling) => lowered.includes(spelling));
  };
  return [...new Set(evidence.filter(({ text }) => holds(text)).map(({ place }) => place))].sort();
}
