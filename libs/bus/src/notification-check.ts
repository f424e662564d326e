import { randomBytes } from 'node:crypto';
import { CONNECT_TIMEOUT_MS, connectionSettings } from '@countersign/postgres';
import pg from 'pg';

const CHANNEL = 'countersign_boot_check';

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...connectionSettings(url),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

function receivesPayload(listener: pg.Client, payloadText: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve(false);
    }, timeoutMs);
    listener.on('notification', ({ payload }) => {
      if (payload !== payloadText) return;
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/**
 * Whether a connection of one URL receives notifications sent over a connection of another. It does not through a
 * transaction pooler, which then cannot be used for job notifications.
 */
export async function receivesNotifications(listenUrl: string, notifyUrl: string, timeoutMs: number): Promise<boolean> {
  const [listener, notifier] = await Promise.all([connected(listenUrl), connected(notifyUrl)]);
  try {
    const payloadText = randomBytes(8).toString('hex');
    const received = receivesPayload(listener, payloadText, timeoutMs);
    await listener.query(`LISTEN ${CHANNEL}`);
    await notifier.query('SELECT pg_notify($1, $2)', [CHANNEL, payloadText]);
    return await received;
  } finally {
    await Promise.all([listener.end(), notifier.end()]);
  }
}
