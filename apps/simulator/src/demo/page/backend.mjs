/* global EventSource, sessionStorage */
// Requests to the shop's own server, and the storage of this browser.

const SILENT = {
  title: 'The shop does not answer',
  next: 'Is it still running? Look at the terminal of npm start, then try again.',
  code: 'SILENT',
};

/** The answer: `{login}` or `{problem}`. */
async function ask(method, path, body) {
  try {
    const response = await fetch(`api/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    if (response.status === 204) return {};
    const answer = await response.json();
    if (answer.problem !== undefined || response.ok) return answer;
    return { problem: { title: 'That did not work', next: answer.error.message, code: answer.error.code } };
  } catch {
    return { problem: SILENT };
  }
}

const of = (id) => `logins/${encodeURIComponent(id)}`;

export const visit = () => ask('GET', 'visit');
export const signOut = () => ask('POST', 'sign-out');
export const begin = (request) => ask('POST', 'logins', request);
export const cancel = (id) => ask('DELETE', of(id));
export const sendCode = (id) => ask('POST', `${of(id)}/code`);
export const checkCode = (id, code) => ask('POST', `${of(id)}/check`, { code });
export const enter = (id, secret) => ask('POST', `${of(id)}/enter`, { secret });
export const qrOf = (id) => `api/${of(id)}/qr.svg`;

/** Subscribes to a login until closed; reconnects by itself. */
export function watch(id, { onLogin, onGone }) {
  const source = new EventSource(`api/${of(id)}/events`);
  source.addEventListener('login', ({ data }) => onLogin(JSON.parse(data)));
  source.addEventListener('gone', () => {
    source.close();
    onGone();
  });
  return () => source.close();
}

/** Sets the behaviour of the simulated phone; a convenience of the demo, so a failure is ignored. */
export async function setPhone(phone, profile) {
  await fetch(`/_admin/phones/${encodeURIComponent(phone)}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(profile),
  }).catch(() => undefined);
}

// A phone may discard the page while the person reads messages: this tab restores its sign-in, other tabs do not.
const KEPT = 'acme-login';

export function keep(kept) {
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
}

export function kept() {
  return JSON.parse(sessionStorage.getItem(KEPT) ?? 'null');
}

export function forget() {
  sessionStorage.removeItem(KEPT);
}
