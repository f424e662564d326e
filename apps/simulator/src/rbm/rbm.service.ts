import type { PhoneFeed } from '../feed/phone-feed.js';
import type { ReplyItem } from '../phone/phone-item.js';
import { agentBrand } from './agents.js';
import type { Clock } from './clock.js';
import type { PhoneProfiles } from '../phone/phone-profile.js';
import { launchEvent, type LaunchState, loneEvent, type LoneUserEvent, textEvent } from './rbm-event.js';
import { RbmPlatform } from './rbm-platform.js';
import { type RbmFaults, RbmSwitches } from './rbm-switches.js';
import { type ServiceAccount, AccessTokenIssuer } from './access-token-issuer.js';
import { WebhookSender } from './webhook-sender.js';

/** The registration of the partner that uses the service: its credentials and its webhook. */
export interface RbmPartner {
  /** Null: no tokens are issued. */
  readonly account: ServiceAccount | null;
  readonly clientToken: string | null;
  readonly webhookUrl: string | null;
}

export interface RbmOptions {
  readonly clock: Clock;
  readonly partner: RbmPartner;
  readonly phones: PhoneProfiles;
  readonly feed: PhoneFeed;
  readonly log: (message: string) => void;
}

/** Keywords that end and begin a conversation. The platform sends an event for them beside the text itself. */
const WORDS: ReadonlyMap<string, LoneUserEvent> = new Map([
  ['STOP', 'UNSUBSCRIBE'],
  ['BAJA', 'UNSUBSCRIBE'],
  ['PARAR', 'UNSUBSCRIBE'],
  ['START', 'SUBSCRIBE'],
]);

/** The RBM service: its switches, tokens, messages and webhooks. */
export class RbmService {
  readonly switches: RbmSwitches;
  readonly tokens: AccessTokenIssuer;
  readonly platform: RbmPlatform;
  readonly webhook: WebhookSender;
  readonly #launchStates = new Map<string, LaunchState>();
  #replies = 0;

  constructor(private readonly options: RbmOptions) {
    const { clock, partner, phones, feed, log } = options;
    const { account, clientToken, webhookUrl } = partner;
    this.switches = new RbmSwitches({ webhookUrl });
    this.tokens = new AccessTokenIssuer(account, clock);
    this.webhook = new WebhookSender({ clock, clientToken, switches: this.switches, log });
    this.platform = new RbmPlatform({
      clock,
      phones,
      switches: this.switches,
      listener: {
        onEvent: (event) => this.webhook.send(event),
        onItem: (item) => feed.show(item),
        onPhone: (view) => feed.showPhone(view),
      },
    });
  }

  get phones(): PhoneProfiles {
    return this.options.phones;
  }

  /** A new webhook gets the handshake, in which it proves that it knows the client token. */
  set(changes: Partial<RbmFaults>): void {
    const before = this.switches.current.webhookUrl;
    this.switches.set(changes);
    if (this.switches.current.webhookUrl !== before) this.webhook.register();
  }

  /** Sends a person's message to an agent. */
  reply(agentId: string, phone: string, text: string): void {
    const atMs = this.options.clock.nowMs();
    this.#replies += 1;
    const item: ReplyItem = {
      kind: 'reply',
      id: `reply-${this.#replies}`,
      phone,
      at: new Date(atMs).toISOString(),
      agent: agentBrand(agentId),
      text,
    };
    this.options.feed.show(item);
    this.webhook.send(textEvent({ agentId, phone, atMs }, text));
    const meaning = WORDS.get(text.trim().toUpperCase());
    if (meaning !== undefined) this.tellLone(agentId, phone, meaning);
  }

  tellLone(agentId: string, phone: string, type: LoneUserEvent): void {
    this.webhook.send(loneEvent({ agentId, phone, atMs: this.options.clock.nowMs() }, type));
  }

  /** An agent that is not launched reaches no phone. */
  sendLaunchState(agentId: string, state: LaunchState): void {
    const old = this.#launchStates.get(agentId) ?? 'LAUNCHED';
    this.#launchStates.set(agentId, state);
    this.platform.suspend(agentId, state !== 'LAUNCHED');
    this.webhook.send(launchEvent(agentId, { old, new: state }, this.options.clock.nowMs()));
  }
}
