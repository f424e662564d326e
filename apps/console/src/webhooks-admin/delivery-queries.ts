import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../api/client.js';
import { listing } from '../api/cursor.js';

export type Delivery = Schemas['DeliveryRecordAnswer'];
export type DeliveryDetail = Schemas['DeliveryDetailAnswer'];
export type Attempt = Schemas['AttemptAnswer'];

const STATUSES = ['pending', 'succeeded', 'failed', 'blocked'] as const;

export interface DeliverySearch {
  readonly status?: string;
  readonly accountId?: string;
  readonly sessionId?: string;
  readonly mode?: string;
}

/** Of lists without bodies: no reading of them is an entry of the audit log. */
export const deliveriesQuery = ({ status, accountId, sessionId, mode }: DeliverySearch) => {
  const known = STATUSES.find((each) => each === status);
  return listing(['deliveries', 'list', status ?? '', accountId ?? '', sessionId ?? '', mode ?? ''], (page, signal) => {
    const query = {
      ...page,
      ...(known === undefined ? {} : { status: known }),
      ...(accountId === undefined ? {} : { accountId }),
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(mode === undefined ? {} : { test: mode === 'test' ? ('true' as const) : ('false' as const) }),
    };
    return dataOf(api.GET('/v1/admin/deliveries', { params: { query }, signal }));
  });
};

const pathOf = (id: string) => ({ params: { path: { id } } });

/** With its body: read on demand alone, because each reading is an entry of the audit log. */
export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['deliveries', 'one', id],
    queryFn: ({ signal }) => dataOf(api.GET('/v1/admin/deliveries/{id}', { ...pathOf(id), signal })),
  });

export const retryDelivery = (id: string): Promise<DeliveryDetail> =>
  dataOf(api.POST('/v1/admin/deliveries/{id}/retry', pathOf(id)));

/** The result of an attempt: the status of the answer, or why there was none. */
export const resultOf = ({ status, error }: Attempt): string =>
  status === null ? (error ?? 'no answer') : error === undefined ? String(status) : `${String(status)}, ${error}`;
