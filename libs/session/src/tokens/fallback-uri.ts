/** The text for the phone to send (specification 2.1): the token, then one line of instruction. */
export function fallbackText(slug: string, token: string, instruction: string): string {
  return `AUTH-${slug}-${token}\n${instruction}`;
}

/**
 * `sms:<number>?body=<text>` (specification 4.1; contract, Token). Everything except letters, digits and `-_.~` is
 * percent-encoded, `!'()*` too: some compose sheets truncate at them. A space is `%20`, never `+`.
 *
 * @param inboundNumber E.164 with its `+`, or a short code
 */
export function fallbackUri(inboundNumber: string, text: string): string {
  return `sms:${inboundNumber}?body=${encodeURIComponent(text).replace(/[!'()*]/g, percentEncode)}`;
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
