import { Agent, request } from 'undici';
import { CpuMeter } from '../cpu/meter.js';
import type { CpuMicros } from '../cpu/use.js';

/** The baseline of webhooks: `undici` posts one body repeatedly, with a fixed concurrency to each URL. */
export interface PostsTask {
  readonly urls: readonly string[];
  readonly perUrl: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Total number; each has an id of its own. */
  readonly count: number;
}

export interface PostsFigure {
  readonly errors: number;
  /** CPU time of this process, which is the baseline itself. */
  readonly micros: CpuMicros;
}

async function run({ urls, perUrl, body, headers, count }: PostsTask): Promise<PostsFigure> {
  const meter = new CpuMeter([], 'baseline').start();
  const dispatcher = new Agent({ connections: perUrl, pipelining: 1 });
  let [sent, errors] = [0, 0];
  const postRepeatedly = async (url: string): Promise<void> => {
    while (sent < count) {
      sent += 1;
      const own = { ...headers, 'webhook-id': `bare_${sent}` };
      const answer = await request(url, { method: 'POST', dispatcher, headers: own, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) errors += 1;
    }
  };
  await Promise.all(urls.flatMap((url) => Array.from({ length: perUrl }, () => postRepeatedly(url))));
  const micros = meter.stop();
  await dispatcher.close();
  return { errors, micros };
}

process.once('message', (task: PostsTask) => {
  void run(task).then((figure) => process.send?.(figure, () => process.disconnect()));
});
