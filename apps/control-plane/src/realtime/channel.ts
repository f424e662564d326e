import { parseId, renderId, type Uuid } from '@countersign/ids';

/** A channel for subscriptions (contract, Realtime). */
export type Channel =
  | { readonly kind: 'session'; readonly id: Uuid }
  | { readonly kind: 'account'; readonly id: Uuid }
  | { readonly kind: 'binds' };

const SESSION = 'session:';
const ACCOUNT = 'account:';

/** The channel with this name, or null; checks neither existence nor access. */
export function parseChannel(text: string): Channel | null {
  if (text === 'binds') return { kind: 'binds' };
  if (text.startsWith(SESSION)) return named('session', parseId('sess', text.slice(SESSION.length)));
  if (text.startsWith(ACCOUNT)) return named('account', parseId('acct', text.slice(ACCOUNT.length)));
  return null;
}

/** The canonical name of a channel. */
export function channelName(channel: Channel): string {
  if (channel.kind === 'binds') return 'binds';
  return channel.kind === 'session' ? SESSION + renderId('sess', channel.id) : ACCOUNT + renderId('acct', channel.id);
}

const named = (kind: 'session' | 'account', id: Uuid | null): Channel | null => (id === null ? null : { kind, id });
