import autocannon from 'autocannon';
import type { MeteredProcess } from '../cpu/use.js';
import type { Measure } from '../report.js';
import { LoadWindow } from './window.js';

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
  /** Duration, in which each connection repeats its share of the requests. Null: each request is sent once. */
  readonly seconds: number | null;
  /** Their CPU time is measured over the same window as the answers. */
  readonly processes?: readonly MeteredProcess[];
}

/** Time in which all connections are opened and have sent a request; a timed load is measured after it. */
const RAMP_MS = 500;
/** How often autocannon checks whether to stop; its own figures are not used. */
const SAMPLE_MS = 50;
const MS_PER_SECOND = 1_000;

/** The share of one connection: every n-th request of n connections; at least one request each. */
function shareOf({ requests, connections }: HttpsTask, connection: number): HttpsRequest[] {
  const share = requests.filter((_, at) => at % connections === connection);
  return share.length > 0 ? share : requests.slice(0, 1);
}

function start(task: HttpsTask, onDone: (error: Error | null) => void): autocannon.Instance {
  const { origin, method, connections, seconds, requests } = task;
  let clients = 0;
  const options: autocannon.Options = {
    url: origin,
    connections,
    // A timed load is stopped by its window; the duration only bounds it.
    ...(seconds === null ? { amount: requests.length } : { duration: 2 * (seconds + 1) }),
    sampleInt: SAMPLE_MS,
    headers: { 'content-type': 'application/json', authorization: task.authorization },
    setupClient: (client) => {
      const share = shareOf(task, clients);
      clients += 1;
      client.setRequests(share.map((each) => ({ method, ...each })));
    },
  };
  return autocannon(options, onDone);
}

/** A timed load is measured after its ramp; the others from the moment that as many answers came as there are connections. */
function measured(task: HttpsTask, window: LoadWindow, instance: autocannon.Instance): void {
  const { seconds, requests, connections } = task;
  let responses = 0;
  instance.on('response', (_client, status, _octets, latencyMs) => {
    window.answered(latencyMs, status >= 200 && status < 300);
    responses += 1;
    if (seconds !== null) return;
    if (responses === connections) window.open();
    if (responses === requests.length) window.close();
  });
  instance.on('reqError', () => window.failed());
  if (seconds === null) return;
  setTimeout(() => window.open(), RAMP_MS);
  setTimeout(
    () => {
      window.close();
      instance.stop();
    },
    RAMP_MS + seconds * MS_PER_SECOND,
  );
}

async function run(task: HttpsTask): Promise<Measure> {
  const window = new LoadWindow(task.processes);
  await new Promise<void>((resolve, reject) => {
    const onDone = (error: Error | null): void => (error === null ? resolve() : reject(error));
    measured(task, window, start(task, onDone));
  });
  return window.measure();
}

process.once('message', (task: HttpsTask) => {
  void run(task).then((measure) => process.send?.(measure, () => process.disconnect()));
});
