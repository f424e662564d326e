/** Chooses the screen and the progress of the story for a login. Pure, so that it can be tested without a page. */

const SCREEN_OF_PHASE = {
  approved: 'entering',
  signed_in: 'home',
  denied: 'denied',
  expired: 'expired',
  cancelled: 'cancelled',
};

/** @param codeOpen the person has asked for the field of the code */
export function screenOf(login, codeOpen) {
  if (login.phase !== 'waiting') return SCREEN_OF_PHASE[login.phase];
  if (codeOpen && login.code.sent) return 'code';
  return login.channel === 'rcs' ? 'card' : 'text';
}

const STORY = ['secret', 'asked', 'answer', 'entered'];
const NOW_OF_SCREEN = { reaching: 'asked', card: 'answer', text: 'answer', code: 'answer', entering: 'entered' };

/** Each step of the story with `done`, `now` or `ahead`. */
export function storyOf(screen) {
  if (screen === 'home') return STORY.map((step) => [step, 'done']);
  const now = STORY.indexOf(NOW_OF_SCREEN[screen]);
  return STORY.map((step, at) => [step, now === -1 || at > now ? 'ahead' : at === now ? 'now' : 'done']);
}

/** `1:27 left`. */
export function timeLeft(ms) {
  const seconds = Math.ceil(ms / 1000);
  if (seconds <= 0) return 'Time is up';
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`;
}

/** `+14155552671` in groups. North American numbers have their usual groups; others groups of three from the end. */
export function readablePhone(phone) {
  const american = /^\+1(\d{3})(\d{3})(\d{4})$/.exec(phone);
  if (american) return `+1 ${american.slice(1).join(' ')}`;
  return phone.replace(/(?<=\+\d{2,})(?=(?:\d{3})+$)/g, ' ');
}

const PROOFS = { card: 'You approved the card', text: 'Your text arrived', code: 'Your code was right' };

/** The proof of the number, and the time that it took. */
export function proofOf({ proof, latencyMs }) {
  const words = PROOFS[proof];
  return latencyMs === null ? words : `${words}, ${(latencyMs / 1000).toFixed(1)} seconds after you asked`;
}

export function attemptsText({ attemptsLeft }) {
  if (attemptsLeft >= 5) return '';
  if (attemptsLeft === 0) return 'No attempts are left for this sign-in.';
  return attemptsLeft === 1 ? '1 attempt is left.' : `${attemptsLeft} attempts are left.`;
}

/** The button for another code: its text, and whether it is enabled. */
export function resendText({ sendsLeft }, waitMs) {
  if (sendsLeft === 0) return { text: 'No more codes for this sign-in', ready: false };
  if (waitMs > 0) return { text: `Another code in ${Math.ceil(waitMs / 1000)} s`, ready: false };
  return { text: 'Send another code', ready: true };
}
