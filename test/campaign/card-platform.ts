import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { forward, serve } from '../support/forward.js';
import { openRbmEmulator, type RbmEmulator } from '../support/rbm-emulator.js';
import type { Random } from '../support/random.js';

const OK = 200;
const UNAVAILABLE = 503;
/** From the platform's acceptance of a card to its arrival. */
const DELIVERED_MS = { least: 0, most: 400 };
/** The suggestions of a card without number matching. */
const SUGGESTIONS = { approve: 0, deny: 1 } as const;

export type Tap = keyof typeof SUGGESTIONS;

/**
 * The emulated RCS platform and the people who tap its cards. It posts each event to one of the gateways, as through a load
 * balancer that knows nothing of their state, and repeats it until it is answered 200.
 */
export class CardPlatform {
  readonly #accepted = new Map<string, Date>();
  #webhooks: readonly string[] = [];

  private constructor(
    private readonly emulator: RbmEmulator,
    private readonly balancer: Server,
    private readonly random: Random,
  ) {}

  static async open(random: Random): Promise<CardPlatform> {
    let platform: CardPlatform | null = null;
    const { server, url } = await serve((req, res) => platform?.forwardToGateway(req, res) ?? Promise.resolve());
    platform = new CardPlatform(await openRbmEmulator({ webhookUrl: `${url}/rcs/webhook` }), server, random);
    return platform;
  }

  /** The variables with which a gateway finds the platform. */
  get environment(): Readonly<Record<string, string>> {
    const { url, serviceAccountFile, clientToken } = this.emulator;
    return { RBM_BASE_URL: url, RBM_SERVICE_ACCOUNT_FILE: serviceAccountFile, RBM_CLIENT_TOKEN: clientToken };
  }

  /** Secrets that no file may contain. */
  get secrets(): readonly string[] {
    return [this.emulator.clientToken];
  }

  /** Sets the ports of the gateways' webhooks. */
  listenAt(ports: readonly number[]): void {
    this.#webhooks = ports.map((port) => `http://127.0.0.1:${port}/rcs/webhook`);
  }

  /** From now on the phone has RCS. */
  enable(phone: string): void {
    const deliverAfterMs = this.random.between(DELIVERED_MS.least, DELIVERED_MS.most);
    this.rbm.platform.setPhone(phone, { reachable: true, online: true, deliverAfterMs });
  }

  /** The person taps the card of the phone. False while none is on it. */
  tap(phone: string, choice: Tap): boolean {
    const card = this.rbm.platform.list(phone).at(0);
    return card !== undefined && this.rbm.platform.tap(card.messageId, SUGGESTIONS[choice]) === 'tapped';
  }

  /** When a gateway answered 200 to the phone's tap; null if none did. */
  tapAcceptedAt(phone: string): Date | null {
    return this.#accepted.get(phone) ?? null;
  }

  /** Events that no gateway has accepted yet. */
  get waiting(): number {
    return this.rbm.webhook.view.waiting;
  }

  /** Events that were given up. */
  get dropped(): number {
    return this.rbm.webhook.view.dropped;
  }

  async close(): Promise<void> {
    await this.emulator.close();
    this.balancer.closeAllConnections();
    await new Promise((resolve) => this.balancer.close(resolve));
  }

  private get rbm(): RbmEmulator['simulator']['parts']['rbm'] {
    return this.emulator.simulator.parts.rbm;
  }

  private async forwardToGateway(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await buffer(req);
    if (this.#webhooks.length === 0) {
      res.writeHead(UNAVAILABLE).end();
      return;
    }
    const status = await forward(this.random.pick(this.#webhooks), req, res, body);
    const phone = tappingPhone(body);
    if (status === OK && phone !== null && !this.#accepted.has(phone)) this.#accepted.set(phone, new Date());
  }
}

/** The phone of a tap's event; null for other events. */
function tappingPhone(body: Buffer): string | null {
  const { message } = JSON.parse(body.toString('utf8')) as { readonly message?: { readonly data: string } };
  if (message === undefined) return null;
  const event = JSON.parse(Buffer.from(message.data, 'base64').toString('utf8')) as Readonly<Record<string, unknown>>;
  return 'suggestionResponse' in event ? String(event['senderPhoneNumber']) : null;
}
