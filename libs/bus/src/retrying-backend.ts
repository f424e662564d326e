import { type BackendFactory, PostgresConnection, type PostgresConnectionOptions, PostgresQueueBackend } from 'bullmq';

/** Pause between attempts at a worker's first connection. */
const RETRY_MS = 1_000;

/**
 * BullMQ's PostgreSQL connection caches the result of its first attempt forever. A worker whose first attempt timed
 * out would repeat that rejection without ever yielding to the event loop. This connection retries: a worker's after
 * a pause, until it is closed; a producer's with the next call.
 */
class RetryingConnection extends PostgresConnection {
  private ended = false;

  constructor(
    options: PostgresConnectionOptions,
    private readonly waits: boolean,
  ) {
    super(options);
    // The pool listens to errors of idle clients only. Without a listener the loss of a client in use ends the process.
    this.pool.on('connect', (client) => client.on('error', () => undefined));
  }

  override async waitUntilReady(): Promise<void> {
    for (;;) {
      try {
        await super.waitUntilReady();
        return;
      } catch (error) {
        Reflect.set(this, 'readyPromise', undefined);
        if (!this.waits || this.ended) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  override async close(): Promise<void> {
    this.ended = true;
    await super.close();
  }
}

/** BullMQ's PostgreSQL backend over a connection that recovers from a failed first attempt. */
export const createRetryingBackend: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> = (
  name,
  options,
  { withBlockingConnection = false } = {},
) => {
  const connection = new RetryingConnection(options.connection, withBlockingConnection);
  return new PostgresQueueBackend(connection, name, options, true, withBlockingConnection ? name : undefined);
};
