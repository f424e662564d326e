/* global document */
import { byId, el, setText } from './dom.mjs';
import { formatNumber, parseNumber } from './numbers.mjs';
import { parseSmsUri } from './sms-uri.mjs';

/** Septets of one SMS; a token with its instruction fits (contract, Token). */
const ONE_SMS = 160;
const SHORT_CODE = /^[0-9]{3,8}$/;

/** The sheet in which an SMS is written, or which a link has filled in. */
export function composeSheet(actions) {
  const [layer, form, from, to, text] = ['compose', 'compose-form', 'compose-from', 'compose-to', 'compose-text'].map(
    byId,
  );
  let before = null;
  const refresh = () => {
    const count = [...text.value].length;
    setText(byId('compose-hint'), count === 0 ? null : `${count} characters${count > ONE_SMS ? ', several SMS' : ''}`);
    byId('compose-send').disabled = text.value.trim() === '' || to.value.trim() === '';
  };
  const fill = ({ number, text: body }) => {
    to.value = formatNumber(number);
    text.value = body;
    setText(byId('compose-note'), 'As the link wants it: the text is written already, you only send it.');
  };
  const close = () => {
    layer.hidden = true;
    actions.onModal(false);
    before?.focus();
  };
  const paste = (event) => {
    const asked = parseSmsUri(event.clipboardData?.getData('text') ?? '');
    if (asked === null) return;
    event.preventDefault();
    fill(asked);
    refresh();
  };
  const submit = async (event) => {
    event.preventDefault();
    const number = recipientOf(to.value);
    if (number === null) return setText(byId('compose-problem'), 'To is a number with its country, or a short code.');
    byId('compose-send').disabled = true;
    const problem = await actions.sendSms(from.value, number, text.value);
    refresh();
    setText(byId('compose-problem'), problem);
    if (problem === null) {
      close();
      actions.openThread(`sms:${number}`, from.value);
    }
  };
  to.addEventListener('paste', paste);
  text.addEventListener('paste', paste);
  form.addEventListener('input', refresh);
  form.addEventListener('submit', (event) => void submit(event));
  byId('compose-cancel').addEventListener('click', close);
  layer.addEventListener('click', (event) => {
    if (event.target === layer) close();
  });
  return (lines, line, asked = null) => {
    before = document.activeElement;
    form.reset();
    for (const id of ['compose-note', 'compose-problem']) setText(byId(id), null);
    from.replaceChildren(...lines.map((each) => optionOf(each, line)));
    if (asked !== null) fill(asked);
    layer.hidden = false;
    actions.onModal(true);
    refresh();
    if (asked === null) to.focus();
    else byId('compose-send').focus();
  };
}

const optionOf = (line, selected) => el('option', { value: line, selected: line === selected }, formatNumber(line));

const recipientOf = (typed) => (SHORT_CODE.test(typed.trim()) ? typed.trim() : parseNumber(typed));
