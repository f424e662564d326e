import type { AdminRole } from '@countersign/accounts/admin-keys';
import type { KeyLimits } from '@countersign/accounts/accounts';
import type { MemberRole } from '@countersign/accounts/members';
import type { Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { TokenBucket } from '@countersign/resilience';
import type { Channel } from './channel.js';
import type { BadFrame, ClientFrame, ClientFrameType } from './client-frame.js';
import { CLOSE, type CloseCode } from './close-codes.js';
import type { FrameError } from './server-frame.js';
import type { SessionView } from './session-view.js';

/** The session of the console that a connection was opened with, instead of a key. */
export interface ListeningSession {
  readonly id: Uuid;
  /** At the upgrade. */
  readonly role: MemberRole;
}

/** The principal of a connection. */
export type Listener =
  | { readonly kind: 'nobody' }
  /** `keyId` names the key that asked for the ticket. */
  | { readonly kind: 'ticket'; readonly sessionId: Uuid; readonly tenant: Tenant; readonly keyId: Uuid }
  | {
      readonly kind: 'key';
      readonly tenant: Tenant;
      readonly keyId: Uuid;
      /**
       * Digests of the key's text in hex, one for each version of the master key. The row holds one of them until the
       * key is rotated.
       */
      readonly keyDigests: readonly string[];
      /** The view of sessions: the whole Session with the scope `verify`, else the fields that a ticket shows. */
      readonly view: SessionView;
      /** The limits of the key when it connected. */
      readonly limits: KeyLimits;
      /** As in ApiKeyPrincipal. */
      readonly quotaId?: Uuid;
      /** Of an account's member, whose id is `keyId`; absent for a key. */
      readonly session?: ListeningSession;
    }
  /** `keyId` is null for the key of the environment, which is neither rotated nor revoked here. */
  | {
      readonly kind: 'admin';
      readonly keyId: Uuid | null;
      /** When it connected. */
      readonly role: AdminRole;
      readonly keyDigests: readonly string[];
      /** Of a member of the installation, or of the holder of a key; absent for a key. */
      readonly session?: ListeningSession;
    };

export type ListenerKind = Listener['kind'];

/** Decision about a frame: handle it, or refuse it with an error and possibly close the connection. */
export type Verdict =
  | { readonly kind: 'handle'; readonly frame: ClientFrame }
  | {
      readonly kind: 'refuse';
      readonly error: FrameError;
      readonly close: CloseCode | null;
      /** Whether the refusal counts toward MAX_BAD_MESSAGES. */
      readonly counts: boolean;
    };

/** Unreadable messages after which a connection is closed. */
export const MAX_BAD_MESSAGES = 3;
export const MAX_CHANNELS = 100;

const UNAUTHORIZED: FrameError = { code: 'UNAUTHORIZED', message: 'The first message must be auth, with a ticket.' };
const AGAIN: FrameError = { code: 'MALFORMED_REQUEST', message: 'This connection is authenticated already.' };

/** Every listener, every message: the error, or null when the message is handled. */
const TABLE: Readonly<Record<ListenerKind, Readonly<Record<ClientFrameType, FrameError | null>>>> = {
  nobody: { auth: null, subscribe: UNAUTHORIZED, unsubscribe: UNAUTHORIZED, ping: null },
  ticket: { auth: AGAIN, subscribe: null, unsubscribe: null, ping: null },
  key: { auth: AGAIN, subscribe: null, unsubscribe: null, ping: null },
  admin: { auth: AGAIN, subscribe: null, unsubscribe: null, ping: null },
};

/** Decides about a frame. `badBefore` counts earlier refusals that count; the third closes the connection. */
export function judgeFrame(listener: ListenerKind, frame: ClientFrame | BadFrame, badBefore: number): Verdict {
  const error = frame.type === 'bad' ? { code: frame.code, message: frame.message } : TABLE[listener][frame.type];
  if (error === null && frame.type !== 'bad') return { kind: 'handle', frame };
  const counts = frame.type !== 'bad' || frame.broken;
  const close = counts && badBefore + 1 >= MAX_BAD_MESSAGES ? CLOSE.badMessages : null;
  return { kind: 'refuse', error: error ?? UNAUTHORIZED, close, counts };
}

const forbidden = (message: string): FrameError => ({ code: 'FORBIDDEN', message });
const OTHER_SESSION = forbidden('This ticket is for another session.');
const OTHER_ACCOUNT = forbidden('This account is not that of the API key or member.');
const ADMIN_ONLY = forbidden('Only an admin key or a member of the installation may listen to binds.');
const ADMIN_MAY_NOT = forbidden('An admin key or a member of the installation may listen to binds alone.');
const TOO_MANY_CHANNELS: FrameError = {
  code: 'RATE_LIMITED',
  message: `A connection listens to ${MAX_CHANNELS} channels at most.`,
};

const TOO_MANY_OF_ACCOUNT: FrameError = {
  code: 'RATE_LIMITED',
  message: 'This account has too many subscriptions open.',
};

/** Open subscriptions, without the requested one. */
export interface OpenSubscriptions {
  /** Other channels of the connection. */
  readonly others: number;
  /** Whether the account of the connection may have one more subscription on this control plane. */
  readonly accountHasCapacity: boolean;
}

/**
 * Whether the listener may subscribe to the channel; null if so. Existence of the session is checked later. A ticket
 * for another session closes the connection.
 */
export function judgeSubscribe(
  listener: Listener,
  channel: Channel,
  { others, accountHasCapacity }: OpenSubscriptions,
): Verdict | null {
  const error = errorOf(listener, channel);
  const refused = { kind: 'refuse', counts: false } as const;
  if (error !== null) return { ...refused, error, close: listener.kind === 'ticket' ? CLOSE.forbidden : null };
  if (others >= MAX_CHANNELS) return { ...refused, error: TOO_MANY_CHANNELS, close: null };
  return accountHasCapacity ? null : { ...refused, error: TOO_MANY_OF_ACCOUNT, close: null };
}

function errorOf(listener: Listener, channel: Channel): FrameError | null {
  switch (listener.kind) {
    case 'nobody':
      return UNAUTHORIZED;
    case 'ticket':
      return channel.kind === 'session' && channel.id === listener.sessionId ? null : OTHER_SESSION;
    case 'admin':
      return channel.kind === 'binds' ? null : ADMIN_MAY_NOT;
    case 'key':
      if (channel.kind === 'binds') return ADMIN_ONLY;
      return channel.kind === 'account' && channel.id !== listener.tenant.accountId ? OTHER_ACCOUNT : null;
  }
}

/** Messages a second per connection, and the size of a burst. */
const MESSAGES_PER_SECOND = 20;

/** A rate limit of a connection's messages. */
export const messageRate = (nowMs: number): TokenBucket =>
  new TokenBucket({ perSecond: MESSAGES_PER_SECOND, capacity: MESSAGES_PER_SECOND }, nowMs);
