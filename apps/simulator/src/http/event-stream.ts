import type { ServerResponse } from 'node:http';

/** A reader that is further behind than this is closed; its browser reconnects and gets a new snapshot. */
const MOST_UNREAD_BYTES = 1024 * 1024;
/** So that both ends detect a lost connection. */
const HEARTBEAT_MS = 15_000;
const RECONNECT_AFTER_MS = 1_000;

/**
 * Begins a response of server-sent events, which lasts until one end closes it. Returns the function that sends an
 * event.
 */
export function openEventStream(stream: ServerResponse): (event: string, data: unknown) => void {
  stream.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  const write = (text: string): void => {
    if (stream.writableLength > MOST_UNREAD_BYTES) stream.destroy();
    else stream.write(text);
  };
  const heartbeat = setInterval(() => write(': still here\n\n'), HEARTBEAT_MS);
  stream.on('error', () => undefined);
  stream.once('close', () => clearInterval(heartbeat));
  write(`retry: ${RECONNECT_AFTER_MS}\n\n`);
  // JSON holds no line break, so an event is one line.
  return (event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}
