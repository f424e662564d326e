import type { ServerResponse } from 'node:http';
import { openEventStream } from '../http/event-stream.js';
import type { Login } from './login.js';
import type { LoginService } from './login.service.js';

const POLL_EVERY_MS = 2_000;

/**
 * A login's changes as server-sent events: `login` with the view, first the current one; `gone` when the shop does not
 * know the login, after which clients need not reconnect. While a client is connected and the login waits, the service
 * is polled every 2 s, because webhooks can be late.
 */
export function streamLogin(
  stream: ServerResponse,
  logins: LoginService,
  id: string,
  render: (login: Login) => unknown,
): void {
  const send = openEventStream(stream);
  const login = logins.store.find(id);
  if (login === null) {
    send('gone', {});
    stream.end();
    return;
  }
  send('login', render(login));
  const changes = logins.store.changes.subscribe((changed) => {
    if (changed.id === id) send('login', render(changed));
  });
  const polling = setInterval(() => void logins.refresh(id), POLL_EVERY_MS);
  stream.once('close', () => {
    clearInterval(polling);
    changes.unsubscribe();
  });
}
