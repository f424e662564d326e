import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';
import type { MessageView } from '../../apps/simulator/src/rbm/message.store.js';
import { viewOf } from '../../apps/simulator/src/rbm/message.store.js';
import type { PhoneProfile } from '../../apps/simulator/src/phone/phone-profile.js';
import type { RbmService } from '../../apps/simulator/src/rbm/rbm.service.js';
import { openRbmEmulator, type RbmEmulator } from './rbm-emulator.js';

const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const WEBHOOK_PATH = '/rcs/webhook';
const SEND_PATH = /^\/v1\/phones\/([^/]+)\/agentMessages\?/;

/** One gateway as the platform sees it: how it comes in, and where its webhook is. */
interface Way {
  readonly server: Server;
  readonly url: string;
  webhookUrl: string | null;
}

/**
 * The emulated platform of RCS with a way of its own for each gateway, so that what is told of a card can be sent to the
 * gateway that did not send it.
 */
export class RbmHarness {
  readonly #ways = new Map<string, Way>();
  /** By message and by phone: which gateway sent last. */
  readonly #senders = new Map<string, string>();
  /** Of every webhook, where it went and how it was answered. */
  readonly told: { readonly to: string; readonly status: number; readonly sender: string | undefined }[] = [];

  private constructor(
    private readonly emulator: RbmEmulator,
    private readonly router: Server,
  ) {}

  static async open(): Promise<RbmHarness> {
    let harness: RbmHarness | null = null;
    const { server: router, url } = await serve((req, res) => harness?.route(req, res) ?? Promise.resolve());
    harness = new RbmHarness(await openRbmEmulator({ webhookUrl: `${url}${WEBHOOK_PATH}` }), router);
    return harness;
  }

  get rbm(): RbmService {
    return this.emulator.simulator.parts.rbm;
  }

  /** What the gateway of that name starts with. */
  async environment(name: string): Promise<Record<string, string>> {
    const { server, url } = await serve((req, res) => this.pass(name, req, res));
    this.#ways.set(name, { server, url, webhookUrl: null });
    const { serviceAccountFile, clientToken } = this.emulator;
    return { RBM_BASE_URL: url, RBM_SERVICE_ACCOUNT_FILE: serviceAccountFile, RBM_CLIENT_TOKEN: clientToken };
  }

  /** Webhooks may go to that gateway from now on. */
  listensAt(name: string, httpPort: number): void {
    const way = this.#ways.get(name);
    if (way !== undefined) way.webhookUrl = `http://127.0.0.1:${httpPort}${WEBHOOK_PATH}`;
  }

  phone(phone: string, changes: Partial<PhoneProfile>): void {
    this.rbm.platform.setPhone(phone, { reachable: true, online: true, deliverAfterMs: 0, ...changes });
  }

  /** What that phone was sent, oldest first, as the platform has it. */
  messages(phone: string): MessageView[] {
    return this.rbm.platform.list(phone).map(viewOf);
  }

  async close(): Promise<void> {
    await this.emulator.close();
    for (const { server } of [...this.#ways.values(), { server: this.router }]) {
      server.closeAllConnections();
      server.close();
    }
  }

  /** From a gateway to the platform. */
  private async pass(name: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', this.emulator.url);
    const [, phone] = SEND_PATH.exec(req.url ?? '') ?? [];
    if (req.method === 'POST' && phone !== undefined) {
      this.#senders.set(url.searchParams.get('messageId') ?? '', name);
      this.#senders.set(decodeURIComponent(phone), name);
    }
    await forward(url.href, req, res);
  }

  /** From the platform to a gateway, if possible not to the one that sent what it is about. */
  private async route(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await buffer(req);
    const sender = this.senderOf(body);
    const open = [...this.#ways].filter(([, { webhookUrl }]) => webhookUrl !== null);
    const [name, way] = open.find(([each]) => each !== sender) ?? open[0] ?? [];
    if (way?.webhookUrl === undefined || way.webhookUrl === null) {
      res.writeHead(503).end();
      return;
    }
    const status = await forward(way.webhookUrl, req, res, body);
    this.told.push({ to: name ?? '', status, sender });
  }

  private senderOf(body: Buffer): string | undefined {
    const { message } = JSON.parse(body.toString('utf8')) as { message?: { data: string } };
    if (message === undefined) return undefined;
    const event = JSON.parse(Buffer.from(message.data, 'base64').toString('utf8')) as Record<string, unknown>;
    const { messageId = '', senderPhoneNumber = '', phoneNumber = '' } = event;
    return [messageId, senderPhoneNumber, phoneNumber].map((key) => this.#senders.get(String(key))).find(Boolean);
  }
}

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

async function serve(handle: Handler): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((req, res) => {
    handle(req, res).catch(() => res.destroy());
  });
  // Longer than anybody here keeps a connection: one that is closed in the moment it is used again is another test.
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return { server, url: `http://127.0.0.1:${address.port}` };
}

/** Passes a request on as it is, and its answer back. A caller that gives up is given up. */
async function forward(url: string, req: IncomingMessage, res: ServerResponse, read?: Buffer): Promise<number> {
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  const { host: _host, connection: _connection, 'transfer-encoding': _chunked, ...headers } = req.headers;
  const body = read ?? (await buffer(req));
  const method = req.method === 'DELETE' ? 'DELETE' : 'POST';
  const answer = await request(url, { method, headers, body: body.length === 0 ? null : body, signal: gone.signal });
  const octets = Buffer.from(await answer.body.arrayBuffer());
  res.writeHead(answer.statusCode, { 'content-type': String(answer.headers['content-type'] ?? 'text/plain') });
  res.end(octets);
  return answer.statusCode;
}
