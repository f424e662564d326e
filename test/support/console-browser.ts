import type { Answer, Call, ControlPlaneHarness } from './control-plane-harness.js';
import type { Dial } from './realtime-client.js';

const COOKIE = '__Host-countersign';

/** A browser at the console of a harness: it keeps the cookies that it is given, and sends what a page of the console sends. */
export class ConsoleBrowser {
  /** By name. */
  readonly cookies = new Map<string, string>();
  csrfToken: string | undefined;

  constructor(private readonly harness: ControlPlaneHarness) {}

  /** A browser that has signed in with an admin key. */
  static async withKey(harness: ControlPlaneHarness, key: string): Promise<ConsoleBrowser> {
    const browser = new ConsoleBrowser(harness);
    const { status, text } = await browser.signIn(key);
    if (status !== 200) throw new Error(`the sign-in was answered ${String(status)}: ${text}`);
    return browser;
  }

  get cookie(): string | undefined {
    return this.cookies.get(COOKIE);
  }

  set cookie(value: string | undefined) {
    if (value === undefined) this.cookies.delete(COOKIE);
    else this.cookies.set(COOKIE, value);
  }

  async signIn(key: string, call: Call = {}): Promise<Answer> {
    const answer = await this.call('sign-in/key', { method: 'POST', body: { key }, ...call });
    if (answer.status === 200) this.csrfToken = String(answer.json['csrfToken']);
    return answer;
  }

  /** A call of `/console/api/<path>`. `headers` replace those of the page; an empty one is not sent. */
  async call(path: string, { method = 'GET', headers = {}, ...call }: Call = {}): Promise<Answer> {
    const written = method === 'GET' ? {} : { origin: this.harness.baseUrl, 'x-csrf-token': this.csrfToken ?? '' };
    const sent = { cookie: this.jar, 'sec-fetch-site': 'same-origin', ...written, ...headers };
    const answer = await this.harness.call(`/console/api/${path}`, {
      ...{ method, key: null, ...call },
      headers: Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== '')),
    });
    this.keep(answer);
    return answer;
  }

  /** The WebSocket handshake of a page of the console. An empty header is not sent. */
  dial({ path = '', headers = {}, ...dial }: Dial = {}): Dial {
    const sent = { cookie: this.jar, origin: this.harness.baseUrl, 'sec-fetch-site': 'same-origin', ...headers };
    return {
      ...{ key: null, path: `/console/api/v1/realtime${path}`, ...dial },
      headers: Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== '')),
    };
  }

  private get jar(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  private keep({ headers }: Answer): void {
    for (const line of [headers['set-cookie'] ?? []].flat()) {
      const [pair = ''] = line.split(';');
      const [name = '', value = ''] = pair.split('=', 2);
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}
