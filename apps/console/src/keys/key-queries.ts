import { api, dataOf, type Schemas } from '../api/client.js';
import { listing } from '../api/cursor.js';
import { type AccountScope, keyOf } from '../account/scope.js';

export type Key = Schemas['KeyAnswer'];

/** Scopes of a key, with what they are for. The default ones come first. */
export const SCOPES = [
  ['verify', 'opens, reads and cancels sessions'],
  ['otp', 'sends and checks codes'],
  ['usage', 'reads usage and cost'],
  ['realtime', 'listens over a WebSocket'],
  ['webhooks', 'reads deliveries and sends them again'],
  ['account', 'manages the account: keys, brands, webhook. Not by default'],
] as const;
export type Scope = (typeof SCOPES)[number][0];

export const keysQuery = (scope: AccountScope) =>
  listing<Key>(keyOf(scope, 'keys'), (query, signal) =>
    dataOf(api.GET('/v1/account/keys', { headers: scope.headers, params: { query }, signal })),
  );

export const makeKey = (
  { headers }: AccountScope,
  body: { readonly name: string; readonly scopes?: Scope[] },
): Promise<Key> => dataOf(api.POST('/v1/account/keys', { headers, body }));

export const rotateKey = ({ headers }: AccountScope, id: string): Promise<Key> =>
  dataOf(api.POST('/v1/account/keys/{id}/rotate', { headers, params: { path: { id } } }));

export const revokeKey = ({ headers }: AccountScope, id: string): Promise<Key> =>
  dataOf(api.POST('/v1/account/keys/{id}/revoke', { headers, params: { path: { id } } }));
