import type { Measure } from '../report.js';
import { atRate, measureOf } from './pace.js';
import { PlainCaller } from './plain-https.js';

/** Creates at a steady rate, each sent when it is due whatever became of the others. */
export interface CreatesTask {
  readonly port: number;
  readonly apiKey: string;
  readonly perSecond: number;
  /** Each is sent once. */
  readonly bodies: readonly string[];
  /** The first so many are not counted. */
  readonly warmUp: number;
  /** What a right answer says. */
  readonly channel: 'rcs' | 'sms_fallback';
}

const CONNECTIONS = 64;

async function run(task: CreatesTask): Promise<Measure> {
  const { port, apiKey, perSecond, bodies, warmUp, channel } = task;
  const caller = await PlainCaller.open(port, `Bearer ${apiKey}`, CONNECTIONS);
  const [latenciesMs, answered] = [new Array<number>(), new Array<Promise<void>>()];
  let errors = 0;
  await atRate(perSecond, bodies.length, (at, dueMs) => {
    const one = (resolve: () => void): void =>
      caller.post('/v1/verify', bodies[at] ?? '', ({ status, body }) => {
        if (at >= warmUp) latenciesMs.push(performance.now() - dueMs);
        if (status !== 200 || !body.includes(`"channel":"${channel}"`)) errors += 1;
        resolve();
      });
    answered.push(new Promise(one));
  });
  await Promise.all(answered);
  caller.close();
  return measureOf(latenciesMs, errors, (bodies.length - warmUp) / perSecond);
}

process.once('message', (task: CreatesTask) => {
  void run(task).then((measure) => process.send?.(measure, () => process.disconnect()));
});
