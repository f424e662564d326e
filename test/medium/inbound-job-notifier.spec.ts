import { queueConnection, type QueueStoreOptions, type JobIds } from '@countersign/bus';
import { QUEUE_PREFIX, QUEUES } from '@countersign/events';
import { Worker } from 'bullmq';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { GatewayHarness, sms } from '../support/gateway-harness.js';
import { until } from '../support/until.js';

let gateway: GatewayHarness;
const workers: Worker<JobIds>[] = [];

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await gateway.close();
});

/** The event ids of every job consumed from now on. */
function consumeEventIds(options: QueueStoreOptions): string[] {
  const ids: string[] = [];
  const collect = (job: { data: JobIds }): Promise<void> => Promise.resolve(void ids.push(...job.data.ids));
  const worker = new Worker<JobIds>(QUEUES.webhooks, collect, {
    connection: queueConnection(options, 'worker'),
    prefix: QUEUE_PREFIX,
  });
  workers.push(worker);
  return ids;
}

async function approvalsAreNotified(redisUrl: string | null): Promise<void> {
  gateway = await GatewayHarness.open(redisUrl === null ? {} : { REDIS_URL: redisUrl });
  await gateway.system({ systemId: 'north' });
  const notified = consumeEventIds({ redisUrl, databaseUrl: gateway.harness.url });
  const esme = await gateway.esme('north');
  const sessions = await Promise.all(Array.from({ length: 5 }, () => gateway.create()));
  await Promise.all(sessions.map((session) => esme.send('submit_sm', sms(gateway.textOf(session)))));
  const events = await gateway.harness.database.query<{ id: string }>('SELECT id FROM events ORDER BY id');
  expect(events).toHaveLength(5);
  await until('every approval was notified', 5_000, () => {
    return events.every(({ id }) => notified.includes(id));
  });
}

describe('the job notifier', () => {
  it('publishes a job for every approval, with its event id, through PostgreSQL', () => approvalsAreNotified(null));

  it.skipIf(inject('redisUrl') === null)('publishes a job for every approval, with its event id, through Redis', () =>
    approvalsAreNotified(inject('redisUrl')),
  );
});
