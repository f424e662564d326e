import type { MeteredProcess } from '../cpu/use.js';
import type { Measure } from '../report.js';
import type { HttpsRequest } from './https.js';
import { openLoop, type Pace } from './open-loop.js';
import { PlainCaller } from './plain-https.js';

/** Sends requests over keep-alive TLS connections at a constant rate (open loop). */
export interface HttpsAtRateTask {
  readonly port: number;
  readonly apiKey: string;
  readonly method: 'GET' | 'POST';
  /** In rotation. */
  readonly requests: readonly HttpsRequest[];
  readonly pace: Pace;
  /** Text in the body of every right answer. */
  readonly expected?: string;
  /** Their CPU time is measured over the same window as the answers. */
  readonly processes?: readonly MeteredProcess[];
}

/**
 * A request waits for a free connection when all are in use. The connection used most recently is taken first, so most stay
 * idle while the server is fast.
 */
const CONNECTIONS = 256;

async function run({ port, apiKey, method, requests, pace, expected, processes }: HttpsAtRateTask): Promise<Measure> {
  const caller = await PlainCaller.open(port, `Bearer ${apiKey}`, CONNECTIONS);
  const measure = await openLoop(
    pace,
    (at, onAnswer) => {
      const { path = '/', body } = requests[at % requests.length] ?? {};
      caller.request(method, path, body, (answer) => {
        onAnswer(answer.status >= 200 && answer.status < 300 && answer.body.includes(expected ?? ''));
      });
    },
    processes,
  );
  caller.close();
  return measure;
}

process.once('message', (task: HttpsAtRateTask) => {
  void run(task).then((measure) => process.send?.(measure, () => process.disconnect()));
});
