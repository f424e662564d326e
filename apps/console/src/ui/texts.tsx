import { type JSX, useState } from 'react';
import { Icon } from './icons.js';

const HIDDEN = '•';
const SHOWN_FIRST = 4;
const SHOWN_LAST = 2;

/** The middle digits replaced. Stars of the server stay. */
export const maskedPhone = (phone: string): string =>
  phone.length <= SHOWN_FIRST + SHOWN_LAST
    ? phone
    : phone.slice(0, SHOWN_FIRST) +
      phone.slice(SHOWN_FIRST, -SHOWN_LAST).replaceAll(/[0-9*]/g, HIDDEN) +
      phone.slice(-SHOWN_LAST);

/** A text of the API with every mention of a phone masked. */
export const withMasked = (text: string, phone: string | undefined): string =>
  phone === undefined ? text : text.replaceAll(phone, maskedPhone(phone));

/** A phone with its middle digits hidden; `mayReveal` adds a button that shows them, unless the server has masked them. */
export function Phone({ number, mayReveal = false }: { readonly number: string; readonly mayReveal?: boolean }) {
  const [isShown, setShown] = useState(false);
  return (
    <span className="phone">
      <span className="mono">{isShown ? number : maskedPhone(number)}</span>
      {mayReveal && !number.includes('*') && (
        <button type="button" onClick={() => setShown(!isShown)} aria-pressed={isShown}>
          {isShown ? 'Hide' : 'Show'}
          <span className="visually-hidden"> the phone number</span>
        </button>
      )}
    </span>
  );
}

/** An id with a button that copies it. */
export function CopyText({ text, name }: { readonly text: string; readonly name: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(() => setCopied(true));
  };
  return (
    <button type="button" className="copy" onClick={copy} onBlur={() => setCopied(false)} title={`Copy ${name}`}>
      <code>{text}</code>
      <Icon name="copy" />
      <span className="visually-hidden" aria-live="polite">
        {isCopied ? 'Copied' : `Copy ${name}`}
      </span>
      {isCopied && (
        <span className="small soft" aria-hidden="true">
          copied
        </span>
      )}
    </button>
  );
}

/** A value of the API as indented JSON. */
interface JsonProps {
  readonly value: unknown;
  readonly label: string;
  /** A phone that is masked in it. */
  readonly phone?: string | undefined;
}

export const Json = ({ value, label, phone }: JsonProps): JSX.Element => (
  <pre className="json" tabIndex={0} role="region" aria-label={label}>
    {withMasked(JSON.stringify(value, undefined, 2), phone)}
  </pre>
);
