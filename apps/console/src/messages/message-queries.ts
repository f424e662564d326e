import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../api/client.js';
import { listing } from '../api/cursor.js';
import type { Tone } from '../ui/layout.js';

export type Message = Schemas['MessageAnswer'];
export type Fate = Message['fate'];

export interface MessageSearch {
  readonly phone?: string;
  readonly direction?: string;
  readonly fate?: string;
  readonly sessionId?: string;
}

const isDirection = (value: string | undefined): value is Message['direction'] => value === 'in' || value === 'out';
const isFate = (value: string | undefined): value is Fate => value !== undefined && Object.hasOwn(FATE_TONES, value);

export const messagesQuery = (search: MessageSearch) => {
  const { phone, direction, fate, sessionId } = search;
  const filter = {
    ...(phone === undefined ? {} : { phone }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(isDirection(direction) ? { direction } : {}),
    ...(isFate(fate) ? { fate } : {}),
  };
  return listing(['messages', 'list', filter], (page, signal) =>
    dataOf(api.GET('/v1/admin/messages', { params: { query: { ...page, ...filter } }, signal })),
  );
};

export const messageQuery = (id: string) =>
  queryOptions({
    queryKey: ['messages', 'one', id],
    queryFn: ({ signal }) => dataOf(api.GET('/v1/admin/messages/{id}', { params: { path: { id } }, signal })),
  });

/** Shows the text once; the audit log records it. */
export const reveal = (id: string): Promise<Message> =>
  dataOf(api.POST('/v1/admin/messages/{id}/reveal', { params: { path: { id } } }));

export const FATE_TONES: Readonly<Record<Fate, Tone>> = {
  matched: 'good',
  duplicate: 'quiet',
  wrong_sender: 'bad',
  unknown_token: 'warn',
  expired: 'warn',
  ended: 'quiet',
  no_token: 'quiet',
  untrusted: 'bad',
  ambiguous_sender: 'warn',
  queued: 'accent',
  sending: 'accent',
  submitted: 'accent',
  delivered: 'good',
  undelivered: 'bad',
  failed: 'bad',
};

/** Such as `unknown token`. */
export const fateName = (fate: Fate): string => fate.replaceAll('_', ' ');
