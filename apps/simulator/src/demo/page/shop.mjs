/* global document, FormData, location, navigator */
// The page of the shop: the person's actions, the server's answers, and the secret, which is sent only at the end.
import { createChallenge } from '../sdk/challenge.js';
import * as backend from './backend.mjs';
import * as counter from './counter.mjs';
import { attemptsText, proofOf, readablePhone, resendText, screenOf, timeLeft } from './shown.mjs';
import { readTypedPhone } from './typed-phone.mjs';

const TICK_MS = 250;
const COPIED_MS = 2_000;
/** Time to read "Approved" before the page changes. */
const ENTERING_MS = 900;
const PROFILES = { card: { reachable: true, online: true }, sms: { reachable: false } };
const NUMBER_FAULT = {
  title: 'That is not a phone number',
  next: 'Type it with its country code first: +1 415 555 2671.',
};

/** This attempt: the server's view of it, its deadline, and the secret. */
let login = null;
let endsAt = 0;
let resendAt = 0;
let secret = null;
let codeOpen = false;
let wantedCard = false;
let entering = false;
let leave = () => undefined;

async function open() {
  const { problem, open: isOpen, signIn } = await backend.visit();
  if (problem) return showProblem(problem);
  if (!isOpen) return counter.show('closed', { focus: false });
  if (signIn) return showHome(signIn, { focus: false });
  const kept = backend.kept();
  if (kept === null) return counter.show('start', { focus: false });
  secret = kept.secret;
  showChallenge(kept.challenge);
  return watch(kept.id);
}

async function begin(phone, channel) {
  reset();
  showPhone(phone);
  counter.show('reaching');
  const made = await createChallenge();
  secret = made.secret;
  showChallenge(made.challenge);
  const { login: begun, problem } = await backend.begin({
    phone,
    challenge: made.challenge,
    ...(channel ? { channel } : {}),
  });
  if (problem) return refuseStart(problem);
  backend.keep({ id: begun.id, secret, challenge: made.challenge });
  wantedCard &&= channel === undefined;
  apply(begun);
  return watch(begun.id);
}

function refuseStart(problem) {
  startOver();
  if (problem.code === 'NO_ACCOUNT') return counter.show('closed');
  return counter.showFault('start', problem);
}

function watch(id) {
  leave = backend.watch(id, {
    onLogin: apply,
    onGone: () => startOver({ focus: false }),
  });
}

/** Shows the state that the server sent. */
function apply(now) {
  login = now;
  endsAt = performance.now() + now.expiresInMs;
  resendAt = performance.now() + now.code.resendInMs;
  showPhone(now.phone);
  counter.showWhen('match', now.matchCode !== null);
  counter.showWhen('no-match', now.matchCode === null);
  counter.showWhen('fell-back', wantedCard && now.channel !== 'rcs');
  counter.fill('matchCode', now.matchCode ?? '');
  counter.fill('attempts', attemptsText(now.code));
  if (now.sms !== null) showSms(now);
  tick();
  if (now.phase === 'approved') return enter();
  // The answer to the sign-in request shows this phase.
  if (now.phase === 'signed_in') return undefined;
  if (now.phase !== 'waiting') reset({ keepShown: true });
  return counter.show(screenOf(now, codeOpen));
}

async function enter() {
  if (entering) return;
  entering = true;
  counter.show('entering');
  const [{ problem }] = await Promise.all([backend.enter(login.id, secret), pause(ENTERING_MS)]);
  reset();
  if (problem) return showProblem(problem);
  const { signIn, problem: silence } = await backend.visit();
  return signIn ? showHome(signIn) : showProblem(silence ?? { title: 'That did not work', next: 'Start again.' });
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Removes everything of an attempt, above all the secret. */
function reset({ keepShown = false } = {}) {
  leave();
  leave = () => undefined;
  backend.forget();
  secret = null;
  codeOpen = false;
  entering = false;
  if (keepShown) return;
  login = null;
  document.getElementById('code').value = '';
}

function showPhone(phone) {
  counter.fill('phone', readablePhone(phone));
  const href = `../phone/?phone=${encodeURIComponent(phone)}`;
  counter.link('phone', href);
  counter.lay(href);
}

/** Returns to the first screen with nothing left of the attempt. */
function startOver(how) {
  reset();
  showChallenge(null);
  counter.lay(null);
  counter.show('start', how);
}

function showChallenge(challenge) {
  const place = document.querySelector('[data-slot="challenge"]');
  if (challenge === null) return place.replaceChildren('.');
  const code = document.createElement('code');
  code.textContent = `${challenge.slice(0, 12)}…`;
  return place.replaceChildren(': ', code);
}

function showSms({ id, phone, sms, fallbackUri }) {
  counter.fill('number', sms.number);
  counter.fill('text', sms.text);
  counter.link('sms', sms.href);
  counter.link('compose', `../phone/?phone=${encodeURIComponent(phone)}#${fallbackUri}`);
  const qr = document.querySelector('[data-slot="qr"]');
  if (!qr.src.endsWith(backend.qrOf(id))) qr.src = backend.qrOf(id);
}

function showHome(signIn, how) {
  showPhone(signIn.phone);
  counter.fill('proof', proofOf(signIn));
  counter.show('home', how);
}

function showProblem({ title, next }) {
  counter.fill('problemTitle', title);
  counter.fill('problemNext', next);
  counter.show('problem');
}

function tick() {
  if (login === null) return;
  const left = Math.max(0, endsAt - performance.now());
  counter.showTime(left / login.ttlMs, timeLeft(left));
  const { text, ready } = resendText(login.code, resendAt - performance.now());
  counter.fill('resend', text);
  document.querySelector('[data-act="resend"]').disabled = !ready;
}

/** Requests a code; if one was sent already, shows the field for it. */
async function sendCode() {
  const from = counter.shownScreen();
  if (login.code.sent && from !== 'code') {
    codeOpen = true;
    return counter.show('code');
  }
  const { login: now, problem } = await backend.sendCode(login.id);
  if (problem) return counter.showFault(from, problem);
  codeOpen = true;
  apply(now);
  return counter.announce('A code is on its way.');
}

async function checkCode(code) {
  const field = document.getElementById('code');
  if (!/^\d{6}$/.test(code)) {
    return counter.showFault('code', { title: 'A code has six digits', next: 'You typed fewer.' });
  }
  counter.showFault('code', null);
  const { login: now, problem } = await backend.checkCode(login.id, code);
  if (!problem) return apply(now);
  if (typeof problem.attemptsLeft === 'number') {
    login.code.attemptsLeft = problem.attemptsLeft;
    counter.fill('attempts', attemptsText(login.code));
  }
  counter.showFault('code', problem);
  field.value = '';
  return field.focus();
}

const ACTS = {
  'send-code': sendCode,
  resend: sendCode,
  back: () => {
    codeOpen = false;
    counter.show(screenOf(login, codeOpen));
  },
  'text-instead': async () => {
    const { phone, id } = login;
    leave();
    await backend.cancel(id);
    return begin(phone, 'sms_fallback');
  },
  cancel: async () => {
    const { login: now, problem } = await backend.cancel(login.id);
    if (problem) return counter.showFault(counter.shownScreen(), problem);
    return apply(now);
  },
  again: () => startOver(),
  'sign-out': async () => {
    await backend.signOut();
    startOver();
  },
  reload: () => location.reload(),
};

/** Disables a button while its action runs. */
async function busy(button, work) {
  if (button.getAttribute('aria-busy') === 'true') return;
  button.setAttribute('aria-busy', 'true');
  try {
    await work();
  } finally {
    button.removeAttribute('aria-busy');
  }
}

const FORMS = {
  start: async (form) => {
    const { phone: typed, profile } = Object.fromEntries(new FormData(form));
    const phone = readTypedPhone(typed);
    if (phone === null) {
      counter.showFault('start', NUMBER_FAULT);
      return document.getElementById('phone').focus();
    }
    wantedCard = profile === 'card';
    if (PROFILES[profile]) await backend.setPhone(phone, PROFILES[profile]);
    return begin(phone);
  },
  code: (form) => checkCode(new FormData(form).get('code').trim()),
};

async function copy(button) {
  const text = document.querySelector(`code[data-slot="${button.dataset.copy}"]`).textContent;
  await navigator.clipboard.writeText(text);
  const [label] = button.childNodes;
  label.data = 'Copied';
  counter.announce('Copied.');
  setTimeout(() => (label.data = 'Copy'), COPIED_MS);
}

document.addEventListener('click', ({ target }) => {
  const button = target.closest('button');
  if (button?.dataset.act) void busy(button, ACTS[button.dataset.act]);
  if (button?.dataset.copy) void copy(button);
});

document.addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.target;
  void busy(form.querySelector('[type="submit"]'), () => FORMS[form.dataset.form](form));
});

// The sixth digit submits the code, typed or filled in by the phone.
document.getElementById('code').addEventListener('input', ({ target }) => {
  target.value = target.value.replace(/\D/g, '').slice(0, 6);
  if (target.value.length === 6) target.form.requestSubmit();
});

setInterval(tick, TICK_MS);
void open();
