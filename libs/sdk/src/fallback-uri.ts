/** The SMS for the phone to send. */
export interface FallbackMessage {
  /** E.164 with its `+`, or a short code. */
  readonly number: string;
  /** The token, then a line of instruction. */
  readonly text: string;
}

/** One number and one `body`, with the separators that phones accept; a `fallbackUri` never has anything else. */
const FALLBACK_URI = /^sms:(\+\d{7,15}|\d{3,8})[?&]body=([A-Za-z0-9\-_.~%]+)$/;

/**
 * Parses a session's `fallbackUri`, in its own form or that of `platformSmsUri`, so that a page can show number and
 * text for copying. Null for any other text.
 */
export function parseFallbackUri(uri: string): FallbackMessage | null {
  const [, number, body] = FALLBACK_URI.exec(uri) ?? [];
  if (number === undefined || body === undefined) return null;
  const text = decode(body);
  return text === null ? null : { number, text };
}

/**
 * The same link for the given device: Apple's phones, tablets and computers take the text after `&`, all others after
 * `?` (RFC 5724). For an `<a href>`: such a link must be opened by a tap.
 *
 * @param userAgent `navigator.userAgent` of the page, or the request header `User-Agent`
 * @throws TypeError for a text that is not a `fallbackUri`
 */
export function platformSmsUri(fallbackUri: string, userAgent: string): string {
  const message = parseFallbackUri(fallbackUri);
  if (message === null) throw new TypeError('This is not the fallbackUri of a session.');
  const separator = APPLE.test(userAgent) ? '&' : '?';
  return `sms:${message.number}${separator}body=${encode(message.text)}`;
}

/** An iPad that requests desktop pages identifies as Macintosh. */
const APPLE = /\b(?:iPhone|iPad|iPod|Macintosh)\b/;

/**
 * The message as the text of a QR code (`SMSTO:<number>:<text>`), the form that the cameras of all phones read,
 * because the scanning phone is not known in advance.
 *
 * @throws TypeError as `platformSmsUri`
 */
export function smsQrText(fallbackUri: string): string {
  const message = parseFallbackUri(fallbackUri);
  if (message === null) throw new TypeError('This is not the fallbackUri of a session.');
  return `SMSTO:${message.number}:${message.text}`;
}

function decode(body: string): string | null {
  try {
    return decodeURIComponent(body);
  } catch {
    return null;
  }
}

/** `!'()*` too: some compose sheets truncate at them. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
