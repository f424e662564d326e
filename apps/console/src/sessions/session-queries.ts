import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../api/client.js';
import { LIVE_MS, listing } from '../api/cursor.js';
import type { Tone } from '../ui/layout.js';

export type Session = Schemas['SessionRecordAnswer'];
export type Timeline = Schemas['SessionTimeline'];

export interface SessionSearch {
  readonly phone?: string;
  readonly mode?: string;
}

export const sessionsQuery = ({ phone, mode }: SessionSearch) =>
  listing(['sessions', 'list', phone ?? '', mode ?? ''], (page, signal) => {
    const query = {
      ...page,
      ...(phone === undefined ? {} : { phone }),
      ...(mode === undefined ? {} : { test: mode === 'test' ? ('true' as const) : ('false' as const) }),
    };
    return dataOf(api.GET('/v1/admin/sessions', { params: { query }, signal }));
  });

export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ['sessions', 'one', id],
    queryFn: ({ signal }) => dataOf(api.GET('/v1/admin/sessions/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? LIVE_MS : false),
  });

/** Read again while the session is pending alone: each reading is an entry of the audit log. */
export const timelineQuery = (id: string, isPending: boolean) =>
  queryOptions({
    // Read once more when the session has ended.
    queryKey: ['sessions', 'timeline', id, isPending],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => dataOf(api.GET('/v1/admin/sessions/{id}/timeline', { params: { path: { id } }, signal })),
    refetchInterval: isPending ? LIVE_MS : false,
  });

export const STATUS_TONES: Readonly<Record<Session['status'], Tone>> = {
  pending: 'accent',
  approved: 'good',
  denied: 'bad',
  cancelled: 'quiet',
  expired: 'warn',
};

const WAYS = { mo: 'SMS from the phone', rcs: 'tap on the card', otp: 'code' } as const;
export const wayOf = ({ approvedBy }: Session): string => (approvedBy === null ? '–' : WAYS[approvedBy]);
export const CHANNELS = { rcs: 'card', sms_fallback: 'SMS' } as const;
