import { PlainCaller } from './plain-https.js';

/** Sends each request once, unmeasured: it prepares a load through the product's API. */
export interface CallsTask {
  readonly port: number;
  readonly apiKey: string;
  readonly requests: readonly { readonly path: string; readonly body: string }[];
}

export interface CallsFigure {
  /** The bodies of the answers, in the order of the requests; empty when one of them was not 2xx. */
  readonly bodies: readonly string[];
  /** The first answer that was not 2xx. */
  readonly refusal: string | null;
}

const CONNECTIONS = 64;

async function run({ port, apiKey, requests }: CallsTask): Promise<CallsFigure> {
  const caller = await PlainCaller.open(port, `Bearer ${apiKey}`, CONNECTIONS);
  const call = ({ path, body }: CallsTask['requests'][number]) =>
    new Promise<{ status: number; body: string }>((resolve) => caller.post(path, body, resolve));
  const answers = await Promise.all(requests.map(call));
  caller.close();
  const refused = answers.find(({ status }) => status < 200 || status > 299);
  if (refused !== undefined) return { bodies: [], refusal: `${refused.status} ${refused.body}` };
  return { bodies: answers.map(({ body }) => body), refusal: null };
}

process.once('message', (task: CallsTask) => {
  void run(task).then((figure) => process.send?.(figure, () => process.disconnect()));
});
