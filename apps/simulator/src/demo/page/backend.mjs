/* global EventSource, sessionStorage */
// The shop's own server, and what this browser keeps to itself.

const SILENT = {
  title: 'The shop does not answer',
  next: 'Is it still running? Look at the terminal of npm start, then try again.',
  code: 'SILENT',
};

/** Its answer: `{login}` or `{problem}`. */
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

/** Tells of a login until it is left: it comes back by itself when the connection breaks. */
export function watch(id, { onLogin, onGone }) {
  const source = new EventSource(`api/${of(id)}/events`);
  source.addEventListener('login', ({ data }) => onLogin(JSON.parse(data)));
  source.addEventListener('gone', () => {
    source.close();
    onGone();
  });
  return () => source.close();
}

/** How the simulated phone behaves; a mere convenience of the demo, so a failure is no news. */
export async function setPhone(phone, profile) {
  await fetch(`/_admin/phones/${encodeURIComponent(phone)}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(profile),
  }).catch(() => undefined);
}

// A phone may throw the page away while the person is in its messages: this tab finds its sign-in again, others do not.
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
