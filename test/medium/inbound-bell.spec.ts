import { bellConnection, type BellOptions, type Ring } from '@countersign/bus';
import { QUEUE_PREFIX, QUEUES } from '@countersign/events';
import { Worker } from 'bullmq';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { GatewayRoom, sms } from '../support/gateway-room.js';
import { until } from '../support/until.js';

let gateway: GatewayRoom;
const workers: Worker<Ring>[] = [];

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await gateway.close();
});

/** The event ids of every ring that comes from now on. */
function heard(options: BellOptions): string[] {
  const ids: string[] = [];
  const listen = (ring: { data: Ring }): Promise<void> => Promise.resolve(void ids.push(...ring.data.ids));
  const worker = new Worker<Ring>(QUEUES.webhooks, listen, {
    connection: bellConnection(options, 'worker'),
    prefix: QUEUE_PREFIX,
  });
  workers.push(worker);
  return ids;
}

async function approvalsAreRungFor(redisUrl: string | null): Promise<void> {
  gateway = await GatewayRoom.open(redisUrl === null ? {} : { REDIS_URL: redisUrl });
  await gateway.system({ systemId: 'north' });
  const rung = heard({ redisUrl, databaseUrl: gateway.room.url });
  const esme = await gateway.esme('north');
  const sessions = await Promise.all(Array.from({ length: 5 }, () => gateway.create()));
  await Promise.all(sessions.map((session) => esme.send('submit_sm', sms(gateway.textOf(session)))));
  const events = await gateway.room.database.query<{ id: string }>('SELECT id FROM events ORDER BY id');
  expect(events).toHaveLength(5);
  await until('the bell was heard for every approval', 5_000, () => {
    return events.every(({ id }) => rung.includes(id));
  });
}

describe('the bell', () => {
  it('rings for every approval, with the id of its event, through PostgreSQL', () => approvalsAreRungFor(null));

  it.skipIf(inject('redisUrl') === null)('rings for every approval, with the id of its event, through Redis', () =>
    approvalsAreRungFor(inject('redisUrl')),
  );
});
