import type { Uuid } from '@countersign/ids';
import type { CloseCode } from './close-codes.js';
import type { Listener } from './connection-rules.js';
import type { RealtimeConnection } from './realtime-connection.js';

/** Rows in one statement at most. */
const MAX_SET = 1_000;

type Watched = Pick<RealtimeConnection, 'listener' | 'close'>;

/** A kind of credential that connections are opened with, in the table of its owner. */
export interface Credential<Row> {
  /** Null for a connection with another credential. */
  readonly idOf: (listener: Listener) => Uuid | null;
  /** Reads the valid rows of these ids from the database. */
  readonly find: (ids: readonly Uuid[]) => Promise<ReadonlyMap<Uuid, Row>>;
  /** The close code for a connection, given the present state of its credential; null to keep it. */
  readonly judge: (listener: Listener, row: Row | undefined) => CloseCode | null;
}

/** Closes the connections whose credential was revoked or changed. */
export async function closeRevoked<Row>(open: Iterable<Watched>, credential: Credential<Row>): Promise<void> {
  const { find, judge } = credential;
  const byId = connectionsById(open, credential);
  const ids = [...byId.keys()];
  for (let at = 0; at < ids.length; at += MAX_SET) {
    const set = ids.slice(at, at + MAX_SET);
    const live = await find(set);
    for (const id of set) {
      for (const connection of byId.get(id) ?? []) {
        const code = judge(connection.listener, live.get(id));
        if (code !== null) connection.close(code);
      }
    }
  }
}

function connectionsById<Row>(open: Iterable<Watched>, { idOf }: Credential<Row>): Map<Uuid, Watched[]> {
  const byId = new Map<Uuid, Watched[]>();
  for (const connection of open) {
    const id = idOf(connection.listener);
    if (id === null) continue;
    const same = byId.get(id);
    if (same === undefined) byId.set(id, [connection]);
    else same.push(connection);
  }
  return byId;
}
