/* global EventSource, URLSearchParams */

const ANSWER_WITHIN_MS = 15_000;
/** A browser reconnects by itself, but not after a refusal. */
const REOPEN_AFTER_MS = 2_000;

/** Calls the simulator; returns null on success, else the text to show. */
async function ask(method, path, body) {
  try {
    const response = await fetch(`/_admin/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const answer = await response.json();
    return response.ok ? { answer, problem: null } : { answer: null, problem: sentence(answer.error?.message) };
  } catch {
    return { answer: null, problem: 'The simulator does not answer. Is `npm start` still running?' };
  }
}

const sentence = (message) =>
  typeof message === 'string' ? `${message.charAt(0).toUpperCase()}${message.slice(1)}.` : 'That did not work.';

/** 0 means accepted (SMPP 3.4, 5.1.3); any other status is shown, because the service does not have the text. */
export async function sendSms(from, to, text) {
  const { answer, problem } = await ask('POST', 'sms', { from, to, text });
  if (problem !== null) return problem;
  const { commandStatus } = answer;
  return commandStatus === 0
    ? null
    : `The service did not take it (status 0x${commandStatus.toString(16)}). Try again.`;
}

export const sendReply = async (phone, agentId, text) =>
  (await ask('POST', 'replies', { phone, agentId, text })).problem;
export const tapCard = async (messageId, suggestion) =>
  (await ask('POST', `cards/${encodeURIComponent(messageId)}/tap`, { suggestion })).problem;
export const readCard = async (messageId) =>
  (await ask('POST', `cards/${encodeURIComponent(messageId)}/read`, {})).problem;
export const setPhone = async (phone, changes) =>
  (await ask('PUT', `phones/${encodeURIComponent(phone)}`, changes)).problem;

/**
 * Follows the events of these numbers until the returned function is called; each connection begins with a snapshot.
 */
export function follow(phones, { onSnapshot, onItem, onPhone, onState }) {
  const query = new URLSearchParams(phones.map((phone) => ['phone', phone])).toString();
  let source = null;
  let again = null;
  const open = () => {
    const opened = new EventSource(`feed?${query}`);
    source = opened;
    const on = (name, setText) => opened.addEventListener(name, ({ data }) => setText(JSON.parse(data)));
    on('snapshot', onSnapshot);
    on('item', onItem);
    on('phone', onPhone);
    opened.addEventListener('open', () => onState('live'));
    opened.addEventListener('error', () => {
      onState('lost');
      if (opened.readyState === EventSource.CLOSED) again = setTimeout(open, REOPEN_AFTER_MS);
    });
  };
  open();
  return () => {
    clearTimeout(again);
    source.close();
  };
}
