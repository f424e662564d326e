import type { PhoneItem, PhoneView } from '../phone/phone-item.js';
import { type AgentMessage, type Fields, readAgentMessage } from './agent-message.js';
import type { Clock } from './clock.js';
import { cancelTimers, itemOf, type StoredMessage, RbmMessageStore } from './message.store.js';
import type { PhoneProfiles, PhoneProfile } from '../phone/phone-profile.js';
import { type About, deliveryEvent, expiryEvent, type RbmEvent, tapEvent } from './rbm-event.js';
import type { RbmSwitches } from './rbm-switches.js';
import { RpcRefusal, unreachable } from '../http/rpc-refusal.js';

const MOST_MESSAGES = 20_000;

/** The effects of the platform outside it. */
export interface PlatformListener {
  /** An event for the agent's webhook. */
  onEvent(event: RbmEvent): void;
  /** A new or changed item on the screen of its phone. */
  onItem(item: PhoneItem): void;
  onPhone(view: PhoneView): void;
}

export interface PlatformParts {
  readonly clock: Clock;
  readonly phones: PhoneProfiles;
  readonly switches: RbmSwitches;
  readonly listener: PlatformListener;
  readonly mostMessages?: number;
}

/** An accepted send. */
export interface Send {
  readonly agentId: string;
  readonly phone: string;
  readonly messageId: string;
  readonly body: unknown;
}

/** The response to a send, and whether it is sent at all. */
export interface Taken {
  readonly resource: Fields;
  readonly mute: boolean;
}

export type TapResult = 'tapped' | 'unknown_message' | 'not_on_phone' | 'no_such_suggestion';

/**
 * The RBM platform and its phones, in memory: waiting → delivered → read → tapped, waiting → revoked, waiting →
 * expired. Throws RpcRefusal where the service would refuse.
 */
export class RbmPlatform {
  readonly #messages: RbmMessageStore;
  readonly #suspended = new Set<string>();

  constructor(private readonly parts: PlatformParts) {
    this.#messages = new RbmMessageStore(parts.mostMessages ?? MOST_MESSAGES);
  }

  send({ agentId, phone, messageId, body }: Send): Taken {
    const { clock, phones, switches } = this.parts;
    const message = readAgentMessage(body, clock.nowMs());
    const { duplicateIdStatus, sendStatus, muteSend } = switches.current;
    const first = this.#messages.find(agentId, messageId);
    if (first !== undefined) {
      if (duplicateIdStatus === 409) throw new RpcRefusal(409, 'Requested entity already exists.');
      return { resource: resourceOf(first), mute: muteSend };
    }
    const behaviour = phones.behaviourOf(phone);
    const status = sendStatus ?? behaviour.sendStatus;
    if (status !== null) throw new RpcRefusal(status, 'The simulator is set to answer with this status.');
    if (!behaviour.profile.reachable || this.#suspended.has(agentId)) throw unreachable();
    const kept = this.#keep({ agentId, phone, messageId }, message);
    return { resource: resourceOf(kept), mute: muteSend || behaviour.muteSend };
  }

  /**
   * Revokes a message that has not reached the phone. For delivered and unknown messages the answer depends on the
   * mode.
   */
  revoke(agentId: string, phone: string, messageId: string): void {
    const kept = this.#messages.find(agentId, messageId);
    const { revokeMode } = this.parts.switches.current;
    if (kept?.phone !== phone || kept.state !== 'waiting') {
      if (revokeMode === 'strict') throw new RpcRefusal(404, 'Requested entity was not found.');
      return;
    }
    if (this.parts.phones.profileOf(phone).deliverAnyway) this.#later(kept, 0, () => this.#deliver(kept));
    else this.#end(kept, 'revoked');
  }

  /** The person taps a suggestion. */
  tap(messageId: string, index: number): TapResult {
    const kept = this.#messages.findById(messageId);
    return kept === undefined ? 'unknown_message' : this.#tap(kept, index);
  }

  /** The person opens the message. */
  read(messageId: string): Exclude<TapResult, 'no_such_suggestion' | 'tapped'> | 'read' {
    const kept = this.#messages.findById(messageId);
    if (kept === undefined) return 'unknown_message';
    if (!this.#isOnPhone(kept)) return 'not_on_phone';
    this.#read(kept);
    return 'read';
  }

  setPhone(phone: string, changes: Partial<PhoneProfile>): PhoneView {
    const view = { phone, ...this.parts.phones.set(phone, changes) };
    this.parts.listener.onPhone(view);
    for (const kept of this.#messages.waitingFor(phone)) this.#schedule(kept);
    return view;
  }

  suspend(agentId: string, isSuspended: boolean): void {
    if (isSuspended) this.#suspended.add(agentId);
    else this.#suspended.delete(agentId);
  }

  /** Oldest first. */
  list(phone: string | undefined): StoredMessage[] {
    return this.#messages.list(phone);
  }

  #keep(name: Pick<StoredMessage, 'agentId' | 'phone' | 'messageId'>, message: AgentMessage): StoredMessage {
    const kept: StoredMessage = {
      ...name,
      message,
      sentAtMs: this.parts.clock.nowMs(),
      state: 'waiting',
      deliveredAtMs: null,
      tapped: null,
      timers: new Set(),
    };
    this.#messages.add(kept);
    this.parts.listener.onItem(itemOf(kept));
    this.#schedule(kept);
    return kept;
  }

  /** Schedules the automatic steps of a waiting message: its delivery, if the phone is online, and its expiry. */
  #schedule(kept: StoredMessage): void {
    cancelTimers(kept);
    const { reachable, online, deliverAfterMs } = this.parts.phones.profileOf(kept.phone);
    if (reachable && online) this.#later(kept, deliverAfterMs, () => this.#deliver(kept));
    const { expiresAtMs } = kept.message;
    if (expiresAtMs !== null) this.#later(kept, expiresAtMs - this.parts.clock.nowMs(), () => this.#expire(kept));
  }

  #deliver(kept: StoredMessage): void {
    if (kept.state !== 'waiting') return;
    const { profile, bothEvents } = this.parts.phones.behaviourOf(kept.phone);
    this.#end(kept, 'delivered');
    if (bothEvents) this.parts.listener.onEvent(expiryEvent(this.#about(kept)));
    this.parts.listener.onEvent(deliveryEvent(this.#about(kept), 'DELIVERED'));
    const { autoTap, tapAfterMs } = profile;
    if (autoTap === null) return;
    const index = autoTap === 'approve' ? 0 : kept.message.suggestions.length - 1;
    this.#later(kept, tapAfterMs, () => void this.#tap(kept, index));
  }

  #expire(kept: StoredMessage): void {
    if (kept.state !== 'waiting') return;
    this.#end(kept, 'expired');
    this.parts.listener.onEvent(expiryEvent(this.#about(kept)));
  }

  #tap(kept: StoredMessage, index: number): TapResult {
    if (!this.#isOnPhone(kept)) return 'not_on_phone';
    const suggestion = kept.message.suggestions[index];
    if (suggestion === undefined) return 'no_such_suggestion';
    this.#read(kept);
    kept.state = 'tapped';
    kept.tapped = index;
    this.parts.listener.onItem(itemOf(kept));
    this.parts.listener.onEvent(tapEvent(this.#about(kept), suggestion));
    return 'tapped';
  }

  /** Ends the wait of a message. */
  #end(kept: StoredMessage, state: 'delivered' | 'revoked' | 'expired'): void {
    cancelTimers(kept);
    this.#messages.endWait(kept);
    kept.state = state;
    if (state === 'delivered') kept.deliveredAtMs = this.parts.clock.nowMs();
    this.parts.listener.onItem(itemOf(kept));
  }

  #read(kept: StoredMessage): void {
    if (kept.state !== 'delivered') return;
    kept.state = 'read';
    this.parts.listener.onItem(itemOf(kept));
    this.parts.listener.onEvent(deliveryEvent(this.#about(kept), 'READ'));
  }

  /** On a phone for which revokes come too late the message counts as delivered. */
  #isOnPhone(kept: StoredMessage): boolean {
    const isTooLate = this.parts.phones.profileOf(kept.phone).deliverAnyway;
    if (isTooLate && kept.state === 'revoked') kept.state = 'waiting';
    if (isTooLate) this.#deliver(kept);
    return kept.state === 'delivered' || kept.state === 'read' || kept.state === 'tapped';
  }

  #later(kept: StoredMessage, ms: number, what: () => void): void {
    const cancel = this.parts.clock.after(ms, () => {
      kept.timers.delete(cancel);
      what();
    });
    kept.timers.add(cancel);
  }

  #about({ agentId, phone, messageId }: StoredMessage): About {
    return { agentId, phone, messageId, atMs: this.parts.clock.nowMs() };
  }
}

function resourceOf({ phone, messageId, message, sentAtMs }: StoredMessage): Fields {
  const { expiresAtMs } = message;
  return {
    ...message.echo,
    name: `phones/${phone}/agentMessages/${messageId}`,
    sendTime: new Date(sentAtMs).toISOString(),
    ...(expiresAtMs === null ? {} : { expireTime: new Date(expiresAtMs).toISOString() }),
  };
}
