import { randomBytes, randomUUID } from 'node:crypto';
import type { Suggestion } from './agent-message.js';
import { agentAddress } from './agents.js';

/** An event for an agent's webhook; `body` is the JSON that the webhook decodes. */
export interface RbmEvent {
  readonly agentId: string;
  /** The id of the agent's message; null when the event is about none. */
  readonly messageId: string | null;
  readonly isDelivery: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The identifiers of one message on one phone. */
export interface About {
  readonly agentId: string;
  readonly phone: string;
  readonly messageId: string;
  readonly atMs: number;
}

/** Launch states of an agent. */
export const LAUNCH_STATES = ['LAUNCHED', 'SUSPENDED', 'UNLAUNCHED', 'REJECTED', 'PENDING'] as const;
export type LaunchState = (typeof LAUNCH_STATES)[number];

export const LONE_USER_EVENTS = ['IS_TYPING', 'SUBSCRIBE', 'UNSUBSCRIBE'] as const;
export type LoneUserEvent = (typeof LONE_USER_EVENTS)[number];

const USER_MESSAGE_ID_BYTES = 9;
const time = (ms: number): string => new Date(ms).toISOString();
/** A person's message has an id from that person's client, unrelated to the agent's ids. */
const userMessageId = (): string => `Mx${randomBytes(USER_MESSAGE_ID_BYTES).toString('base64url')}`;

export function deliveryEvent(about: About, eventType: 'DELIVERED' | 'READ'): RbmEvent {
  const { agentId, phone, messageId, atMs } = about;
  return {
    agentId,
    messageId,
    isDelivery: eventType === 'DELIVERED',
    body: {
      senderPhoneNumber: phone,
      eventType,
      eventId: randomUUID(),
      messageId,
      sendTime: time(atMs),
      agentId: agentAddress(agentId),
    },
  };
}

export function expiryEvent({ agentId, phone, messageId, atMs }: About): RbmEvent {
  const eventType = 'TTL_EXPIRATION_REVOKED';
  return {
    agentId,
    messageId,
    isDelivery: false,
    body: {
      phoneNumber: phone,
      agentId: agentAddress(agentId),
      messageId,
      eventType,
      eventId: randomUUID(),
      sendTime: time(atMs),
    },
  };
}

/** A tap on an action has an eventId of its own; a tap on a reply has the id of the person's message. */
export function tapEvent({ agentId, phone, messageId, atMs }: About, suggestion: Suggestion): RbmEvent {
  const { kind, text, postbackData } = suggestion;
  const type = kind === 'reply' ? 'REPLY' : 'ACTION';
  return {
    agentId,
    messageId,
    isDelivery: false,
    body: {
      agentId: agentAddress(agentId),
      senderPhoneNumber: phone,
      ...(kind === 'reply' ? { messageId: userMessageId() } : { eventId: randomUUID() }),
      sendTime: time(atMs),
      suggestionResponse: { postbackData, text, type },
    },
  };
}

export function textEvent({ agentId, phone, atMs }: Omit<About, 'messageId'>, text: string): RbmEvent {
  const body = {
    agentId: agentAddress(agentId),
    senderPhoneNumber: phone,
    messageId: userMessageId(),
    sendTime: time(atMs),
    text,
  };
  return { agentId, messageId: null, isDelivery: false, body };
}

export function loneEvent({ agentId, phone, atMs }: Omit<About, 'messageId'>, eventType: LoneUserEvent): RbmEvent {
  const body = {
    senderPhoneNumber: phone,
    eventType,
    eventId: randomUUID(),
    sendTime: time(atMs),
    agentId: agentAddress(agentId),
  };
  return { agentId, messageId: null, isDelivery: false, body };
}

export function launchEvent(agentId: string, states: { old: LaunchState; new: LaunchState }, atMs: number): RbmEvent {
  const body = {
    eventId: randomUUID(),
    agentId: agentAddress(agentId),
    botDisplayName: agentId,
    brandId: 'simulator',
    regionId: '/v1/regions/simulator',
    oldLaunchState: states.old,
    newLaunchState: states.new,
    actingParty: 'simulator@example.com',
    comment: '',
    sendTime: time(atMs),
  };
  return { agentId, messageId: null, isDelivery: false, body };
}
