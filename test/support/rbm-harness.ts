import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { MessageView } from '../../apps/simulator/src/rbm/message.store.js';
import { viewOf } from '../../apps/simulator/src/rbm/message.store.js';
import type { PhoneProfile } from '../../apps/simulator/src/phone/phone-profile.js';
import type { RbmService } from '../../apps/simulator/src/rbm/rbm.service.js';
import { forward, serve } from './forward.js';
import { openRbmEmulator, type RbmEmulator } from './rbm-emulator.js';

const WEBHOOK_PATH = '/rcs/webhook';
const SEND_PATH = /^\/v1\/phones\/([^/]+)\/agentMessages\?/;

/** One gateway: the proxy that it calls the platform through, and its webhook. */
interface GatewayRoute {
  readonly server: Server;
  readonly url: string;
  webhookUrl: string | null;
}

/**
 * The emulated RCS platform with one proxy per gateway, so that the events of a card can be sent to the gateway that did
 * not send it.
 */
export class RbmHarness {
  readonly #routes = new Map<string, GatewayRoute>();
  /** The gateway that sent last, by message id and by phone. */
  readonly #senders = new Map<string, string>();
  /** All webhook requests: receiver, status of the answer, and the gateway that sent the card. */
  readonly webhookPosts: { readonly to: string; readonly status: number; readonly sender: string | undefined }[] = [];

  private constructor(
    private readonly emulator: RbmEmulator,
    private readonly router: Server,
  ) {}

  static async open(): Promise<RbmHarness> {
    let harness: RbmHarness | null = null;
    const { server: router, url } = await serve((req, res) => harness?.forwardToGateway(req, res) ?? Promise.resolve());
    harness = new RbmHarness(await openRbmEmulator({ webhookUrl: `${url}${WEBHOOK_PATH}` }), router);
    return harness;
  }

  get rbm(): RbmService {
    return this.emulator.simulator.parts.rbm;
  }

  /** The environment variables of the gateway with that name. */
  async environment(name: string): Promise<Record<string, string>> {
    const { server, url } = await serve((req, res) => this.forwardToPlatform(name, req, res));
    this.#routes.set(name, { server, url, webhookUrl: null });
    const { serviceAccountFile, clientToken } = this.emulator;
    return { RBM_BASE_URL: url, RBM_SERVICE_ACCOUNT_FILE: serviceAccountFile, RBM_CLIENT_TOKEN: clientToken };
  }

  /** Sets the webhook port of that gateway. */
  listensAt(name: string, httpPort: number): void {
    const route = this.#routes.get(name);
    if (route !== undefined) route.webhookUrl = `http://127.0.0.1:${httpPort}${WEBHOOK_PATH}`;
  }

  phone(phone: string, changes: Partial<PhoneProfile>): void {
    this.rbm.platform.setPhone(phone, { reachable: true, online: true, deliverAfterMs: 0, ...changes });
  }

  /** The platform's messages to that phone, oldest first. */
  messages(phone: string): MessageView[] {
    return this.rbm.platform.list(phone).map(viewOf);
  }

  async close(): Promise<void> {
    await this.emulator.close();
    for (const { server } of [...this.#routes.values(), { server: this.router }]) {
      server.closeAllConnections();
      server.close();
    }
  }

  /** Forwards a request of a gateway to the platform. */
  private async forwardToPlatform(name: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', this.emulator.url);
    const [, phone] = SEND_PATH.exec(req.url ?? '') ?? [];
    if (req.method === 'POST' && phone !== undefined) {
      this.#senders.set(url.searchParams.get('messageId') ?? '', name);
      this.#senders.set(decodeURIComponent(phone), name);
    }
    await forward(url.href, req, res);
  }

  /** Forwards a webhook request to a gateway, if possible to another than the sender of the card. */
  private async forwardToGateway(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await buffer(req);
    const sender = this.senderOf(body);
    const listening = [...this.#routes].filter(([, { webhookUrl }]) => webhookUrl !== null);
    const [name, route] = listening.find(([gateway]) => gateway !== sender) ?? listening[0] ?? [];
    if (route?.webhookUrl === undefined || route.webhookUrl === null) {
      res.writeHead(503).end();
      return;
    }
    const status = await forward(route.webhookUrl, req, res, body);
    this.webhookPosts.push({ to: name ?? '', status, sender });
  }

  private senderOf(body: Buffer): string | undefined {
    const { message } = JSON.parse(body.toString('utf8')) as { message?: { data: string } };
    if (message === undefined) return undefined;
    const event = JSON.parse(Buffer.from(message.data, 'base64').toString('utf8')) as Record<string, unknown>;
    const { messageId = '', senderPhoneNumber = '', phoneNumber = '' } = event;
    return [messageId, senderPhoneNumber, phoneNumber].map((key) => this.#senders.get(String(key))).find(Boolean);
  }
}
