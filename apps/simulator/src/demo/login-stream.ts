import type { ServerResponse } from 'node:http';
import { openEventStream } from '../http/event-stream.js';
import type { Login } from './login.js';
import type { LoginService } from './login.service.js';

const ASK_EVERY_MS = 2_000;

/**
 * A login's changes as server-sent events: `login` with the view, first the current one; `gone` when the shop does not
 * know the login, after which clients need not reconnect. While a client is connected and the login waits, the service
 * is polled every 2 s, because webhooks can be late.
 */
export function streamLogin(
  stream: ServerResponse,
  desk: LoginService,
  id: string,
  render: (login: Login) => unknown,
): void {
  const tell = openEventStream(stream);
  const login = desk.book.find(id);
  if (login === null) {
    tell('gone', {});
    stream.end();
    return;
  }
  tell('login', render(login));
  const changes = desk.book.changes.subscribe((changed) => {
    if (changed.id === id) tell('login', render(changed));
  });
  const asking = setInterval(() => void desk.refresh(id), ASK_EVERY_MS);
  stream.once('close', () => {
    clearInterval(asking);
    changes.unsubscribe();
  });
}
