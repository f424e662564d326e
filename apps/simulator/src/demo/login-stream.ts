import type { ServerResponse } from 'node:http';
import type { Login } from './login.js';
import type { LoginDesk } from './login-desk.js';

const ASK_EVERY_MS = 2_000;
const HEARTBEAT_MS = 15_000;
const RECONNECT_AFTER_MS = 1_000;

/**
 * A login as it becomes, as server-sent events: `login` with the view, first as it is now; `gone` when the shop does not
 * know it, after which nobody need come back. While somebody listens and the login waits, the service is asked every 2 s,
 * for webhooks can be late.
 */
export function streamLogin(
  stream: ServerResponse,
  desk: LoginDesk,
  id: string,
  render: (login: Login) => unknown,
): void {
  stream.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  stream.on('error', () => undefined);
  stream.write(`retry: ${RECONNECT_AFTER_MS}\n\n`);
  const login = desk.book.find(id);
  if (login === null) {
    stream.end('event: gone\ndata: {}\n\n');
    return;
  }
  // JSON holds no line break, so an event is one line.
  const tell = (now: Login): void => void stream.write(`event: login\ndata: ${JSON.stringify(render(now))}\n\n`);
  tell(login);
  const changes = desk.book.changes.subscribe((changed) => {
    if (changed.id === id) tell(changed);
  });
  const asking = setInterval(() => void desk.refresh(id), ASK_EVERY_MS);
  const heartbeat = setInterval(() => stream.write(': still here\n\n'), HEARTBEAT_MS);
  stream.once('close', () => {
    clearInterval(asking);
    clearInterval(heartbeat);
    changes.unsubscribe();
  });
}
