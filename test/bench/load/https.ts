import autocannon from 'autocannon';
import type { Measure } from '../report.js';

/** One request of a load; the method is the task's. */
export interface HttpsRequest {
  readonly path: string;
  readonly body?: string;
}

/** Sends requests over keep-alive TLS connections, each connection one at a time. */
export interface HttpsTask {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly method: 'GET' | 'POST';
  readonly authorization: string;
  readonly requests: readonly HttpsRequest[];
  readonly connections: number;
  /** How long: the requests come in rotation. Null: each request is sent once, by one of the connections. */
  readonly seconds: number | null;
}

/** The share of one connection: all of them in rotation, or every so-many-th once. */
function shareOf({ requests, connections, seconds }: HttpsTask, connection: number): HttpsRequest[] {
  return requests.filter((_, at) => seconds !== null || at % connections === connection);
}

async function run(task: HttpsTask): Promise<Measure> {
  const { origin, method, connections, seconds, requests } = task;
  let clients = 0;
  const result = await autocannon({
    url: origin,
    method,
    connections,
    ...(seconds === null ? { amount: requests.length } : { duration: seconds }),
    headers: { 'content-type': 'application/json', authorization: task.authorization },
    setupClient: (client) => {
      const share = shareOf(task, clients);
      clients += 1;
      client.setRequests(share.map((each) => ({ method, ...each })));
    },
  });
  return {
    perSecond:
      seconds === null
        ? (result['2xx'] * 1000) / (result.finish.getTime() - result.start.getTime())
        : result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    errors: result.errors + result.non2xx,
  };
}

process.once('message', (task: HttpsTask) => {
  void run(task).then((measure) => process.send?.(measure, () => process.disconnect()));
});
