import { isObject, isText, parseJson } from './fields.js';

/** Frames of the service that this version knows. */
export type ServerFrame =
  | { readonly type: 'welcome'; readonly authenticated: boolean; readonly heartbeatMs: number }
  | { readonly type: 'authenticated' }
  | { readonly type: 'subscribed'; readonly id: string | null; readonly channel: string; readonly snapshot: unknown }
  | EventFrame
  /** Without an id the service ended the subscription. */
  | { readonly type: 'unsubscribed'; readonly id: string | null; readonly channel: string }
  | { readonly type: 'pong' }
  | { readonly type: 'error'; readonly id: string | null; readonly code: string; readonly message: string }
  | { readonly type: 'closing'; readonly reconnectAfterMs: number | null };

export interface EventFrame {
  readonly type: 'event';
  readonly channel: string;
  readonly id: string;
  readonly event: string;
  readonly timestamp: string;
  readonly data: unknown;
}

/** Messages of the client. */
export type ClientMessage =
  | { readonly type: 'auth'; readonly id: string; readonly ticket: string }
  | { readonly type: 'subscribe'; readonly id: string; readonly channel: string; readonly resumeAfter?: string }
  | { readonly type: 'unsubscribe'; readonly id: string; readonly channel: string }
  | { readonly type: 'ping'; readonly id: string };

type Fields = Readonly<Record<string, unknown>>;

/** Parses a frame. Null for unknown ones: frames and fields may be added within `/v1`. */
export function readFrame(data: unknown): ServerFrame | null {
  const frame = isText(data) ? parseJson(data) : undefined;
  if (!isObject(frame)) return null;
  switch (frame['type']) {
    case 'welcome':
      return welcomeOf(frame);
    case 'authenticated':
    case 'pong':
      return { type: frame['type'] };
    case 'subscribed':
      return isText(frame['channel'])
        ? {
            type: 'subscribed',
            id: textOrNull(frame['id']),
            channel: frame['channel'],
            snapshot: frame['snapshot'] ?? null,
          }
        : null;
    case 'unsubscribed':
      return isText(frame['channel'])
        ? { type: 'unsubscribed', id: textOrNull(frame['id']), channel: frame['channel'] }
        : null;
    case 'event':
      return eventOf(frame);
    case 'error':
      return errorOf(frame);
    case 'closing':
      return { type: 'closing', reconnectAfterMs: durationOf(frame['reconnectAfterMs']) };
    default:
      return null;
  }
}

/** Used when a welcome has no heartbeat interval. */
export const USUAL_HEARTBEAT_MS = 25_000;
/** A longer duration would overflow a timer, which fires at once, and the connection would count as dead. */
const LONGEST_DURATION_MS = 300_000;

function welcomeOf({ authenticated, heartbeatMs }: Fields): ServerFrame {
  const durationMs = durationOf(heartbeatMs) ?? USUAL_HEARTBEAT_MS;
  return { type: 'welcome', authenticated: authenticated === true, heartbeatMs: durationMs };
}

function eventOf({ channel, id, event, timestamp, data }: Fields): ServerFrame | null {
  if (!isText(channel) || !isText(id) || !isText(event) || !isText(timestamp)) return null;
  return { type: 'event', channel, id, event, timestamp, data };
}

function errorOf({ id, error }: Fields): ServerFrame | null {
  if (!isObject(error) || !isText(error['code'])) return null;
  const message = isText(error['message']) ? error['message'] : '';
  return { type: 'error', id: textOrNull(id), code: error['code'], message };
}

const textOrNull = (value: unknown): string | null => (isText(value) ? value : null);

function durationOf(value: unknown): number | null {
  return typeof value === 'number' && value > 0 ? Math.min(value, LONGEST_DURATION_MS) : null;
}
