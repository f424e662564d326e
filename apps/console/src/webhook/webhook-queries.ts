import { queryOptions } from '@tanstack/react-query';
import { type AccountScope, keyOf } from '../account/scope.js';
import { api, dataOf, type Schemas } from '../api/client.js';
import { listing } from '../api/cursor.js';

export type Webhook = Schemas['OwnWebhookAnswer'];
export type Delivery = Schemas['DeliveryAnswer'];
type Change = Schemas['OwnWebhookChange'];

export const webhookQuery = (scope: AccountScope) =>
  queryOptions({
    queryKey: keyOf(scope, 'webhook'),
    queryFn: ({ signal }) => dataOf(api.GET('/v1/account/webhook', { headers: scope.headers, signal })),
  });

export const changeWebhook = ({ headers }: AccountScope, body: Change): Promise<Webhook> =>
  dataOf(api.PATCH('/v1/account/webhook', { headers, body }));

export const rotateSecret = ({ headers }: AccountScope): Promise<Schemas['RotatedSecretAnswer']> =>
  dataOf(api.POST('/v1/account/webhook/secret/rotate', { headers }));

export const sendTest = ({ headers }: AccountScope): Promise<Delivery> =>
  dataOf(api.POST('/v1/webhooks/test', { headers }));

export const retryDelivery = ({ headers }: AccountScope, deliveryId: string): Promise<Delivery> =>
  dataOf(api.POST('/v1/webhooks/deliveries/{deliveryId}/retry', { headers, params: { path: { deliveryId } } }));

export const deliveriesQuery = (scope: AccountScope) =>
  listing<Delivery>(keyOf(scope, 'deliveries'), (query, signal) =>
    dataOf(api.GET('/v1/webhooks/deliveries', { headers: scope.headers, params: { query }, signal })),
  );

const FOLLOWED_MS = 1_000;
/** After this time the delivery is read on demand, as the list. */
const FOLLOWED_READS = 20;

/** One delivery, read every second until its first attempts are known. */
export const deliveryQuery = (scope: AccountScope, deliveryId: string) =>
  queryOptions({
    queryKey: keyOf(scope, 'delivery', deliveryId),
    queryFn: ({ signal }) => {
      const { headers } = scope;
      const params = { path: { deliveryId } };
      return dataOf(api.GET('/v1/webhooks/deliveries/{deliveryId}', { headers, params, signal }));
    },
    refetchInterval: ({ state }) =>
      state.data?.status === 'pending' && state.data.attempts.length === 0 && state.dataUpdateCount < FOLLOWED_READS
        ? FOLLOWED_MS
        : false,
  });
