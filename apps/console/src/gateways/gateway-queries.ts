import { api, dataOf, type Schemas } from '../api/client.js';
import { listing } from '../api/cursor.js';

export type Gateway = Schemas['GatewayAnswer'];

export const gatewaysQuery = listing(
  ['gateways'],
  (query, signal) => dataOf(api.GET('/v1/admin/gateways', { params: { query }, signal })),
  true,
);
