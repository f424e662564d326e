import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { type Listener, Realtime } from './realtime.js';
import { meQuery } from './session.js';

const PATH = '/console/api/v1/realtime';
const SUBPROTOCOL = 'countersign.v1';

const connections = new WeakMap<QueryClient, Realtime>();

/** The connection of this page. A refusal asks whether the session still lives: without one the sign-in opens. */
function realtimeOf(client: QueryClient): Realtime {
  const known = connections.get(client);
  if (known !== undefined) return known;
  const realtime = new Realtime({
    open: () => new WebSocket(new URL(PATH, location.href.replace(/^http/, 'ws')), SUBPROTOCOL),
    onRefused: () => void client.query({ ...meQuery, staleTime: 0 }).catch(() => undefined),
  });
  connections.set(client, realtime);
  return realtime;
}

/**
 * Listens to a channel while the page is shown. The listener must be stable.
 *
 * @returns whether the channel is live; without it the page must ask
 */
export function useLive(channel: string, listenerOf: (client: QueryClient) => Listener): boolean {
  const client = useQueryClient();
  const realtime = realtimeOf(client);
  useEffect(() => realtime.subscribe(channel, listenerOf(client)), [channel, client, listenerOf, realtime]);
  return useSyncExternalStore(realtime.watch, () => realtime.isLive(channel));
}
