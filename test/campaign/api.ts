import { Agent, request } from 'undici';

/** Time limit of a call; without an answer by then it is unknown what it did. */
const CALL_MS = 6_000;

export interface Answer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls control planes in turn, as behind a load balancer that knows nothing of their state. */
export class Api {
  readonly #agent: Agent;
  #calls = 0;

  constructor(
    private readonly baseUrls: readonly string[],
    ca: Buffer,
    private readonly key: string,
  ) {
    this.#agent = new Agent({ connect: { ca }, headersTimeout: CALL_MS, bodyTimeout: CALL_MS });
  }

  /** Null without an answer: it is unknown whether the call took effect. */
  async call(path: string, { method = 'GET', body, headers = {} }: Call = {}): Promise<Answer | null> {
    const baseUrl = this.baseUrls[this.#calls++ % this.baseUrls.length] ?? '';
    try {
      const response = await request(`${baseUrl}${path}`, {
        method,
        dispatcher: this.#agent,
        headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.body.text();
      return { status: response.statusCode, json: text === '' ? {} : (JSON.parse(text) as Answer['json']) };
    } catch {
      return null;
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}
