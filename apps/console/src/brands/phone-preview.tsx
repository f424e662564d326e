import type { JSX } from 'react';
import { cardTitle, codeText, placesOf, SMS_CHARACTERS, smsText, type BrandTexts } from './brand-texts.js';
import './phone-preview.css';

interface PhonePreviewProps {
  readonly texts: BrandTexts;
  readonly domain: string | null;
  readonly hasLogo: boolean;
}

const first = (name: string): string => Array.from(name.trim())[0]?.toUpperCase() ?? '?';

/** The texts that a user sees: the card, the SMS that the phone sends, and the SMS with a code. */
export const PhonePreview = ({ texts, domain, hasLogo }: PhonePreviewProps): JSX.Element => (
  <figure className="device" aria-label="The texts on a phone">
    <div className="device-screen">
      <div className="device-head">
        <span className="device-monogram" aria-hidden="true">
          {first(texts.name)}
        </span>
        <div>
          <strong>{texts.name}</strong>
          <span>RCS business chat</span>
        </div>
      </div>
      <div className="device-thread">
        <Card texts={texts} hasLogo={hasLogo} />
        <p className="device-note">Without RCS, the phone sends</p>
        <Bubble text={smsText(texts)} isSent />
        <p className="device-note">or gets a code</p>
        <Bubble text={codeText(texts, domain)} />
      </div>
    </div>
  </figure>
);

const Card = ({ texts, hasLogo }: Pick<PhonePreviewProps, 'texts' | 'hasLogo'>): JSX.Element => (
  <div className="device-card">
    {hasLogo && (
      <div className="device-media">
        <span className="device-monogram" aria-hidden="true">
          {first(texts.name)}
        </span>
        <span className="visually-hidden">The picture of the logo URL</span>
      </div>
    )}
    <div className="device-card-body">
      <strong>{cardTitle(texts)}</strong>
      <p>
        Requested at 16:02 UTC.
        <br />
        If this was not you, tap Deny.
      </p>
    </div>
    <div className="device-acts" aria-hidden="true">
      <span data-first="">Approve</span>
      <span>Deny</span>
    </div>
  </div>
);

function Bubble({ text, isSent = false }: { readonly text: string; readonly isSent?: boolean }): JSX.Element {
  const places = placesOf(text);
  const isOver = places > SMS_CHARACTERS;
  return (
    <div className="device-bubble" data-sent={isSent ? '' : undefined}>
      <p>{text}</p>
      <span data-over={isOver ? '' : undefined}>
        {places} of {SMS_CHARACTERS} characters{isOver ? ': too long for one SMS' : ''}
      </span>
    </div>
  );
}
