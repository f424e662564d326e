import autocannon from 'autocannon';
import type { Measure } from '../report.js';

/** POSTs the bodies in rotation over keep-alive TLS connections, each connection one request at a time. */
export interface HttpsTask {
  readonly url: string;
  readonly authorization: string;
  readonly bodies: readonly string[];
  readonly connections: number;
  readonly seconds: number;
}

async function run(task: HttpsTask): Promise<Measure> {
  const result = await autocannon({
    url: task.url,
    method: 'POST',
    connections: task.connections,
    duration: task.seconds,
    headers: { 'content-type': 'application/json', authorization: task.authorization },
    requests: task.bodies.map((body) => ({ body })),
  });
  return {
    perSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    errors: result.errors + result.non2xx,
  };
}

process.once('message', (task: HttpsTask) => {
  void run(task).then((measure) => process.send?.(measure, () => process.disconnect()));
});
