/** What binds a session to one browser (specification 4.7). */
export interface Challenge {
  /** 64 hex digits from the browser's own random source. It stays in the browser until the end. */
  readonly secret: string;
  /** SHA-256 of the secret's text, in hex: the `clientChallenge` of the session. It gives nothing away. */
  readonly challenge: string;
}

const SECRET_OCTETS = 32;
const CHALLENGE = /^[0-9a-f]{64}$/i;

/** A new secret and its challenge. In a browser this needs an `https:` page or `localhost`, as WebCrypto does. */
export async function createChallenge(): Promise<Challenge> {
  const secret = hexOf(crypto.getRandomValues(new Uint8Array(SECRET_OCTETS)));
  return { secret, challenge: await challengeOf(secret) };
}

/**
 * Whether the challenge was made from this secret, in a time that does not depend on where they differ. False for a
 * challenge that is none; either case of hex will do. Not proof of anything by itself: the session must be approved too.
 */
export async function verifySecret(secret: string, challenge: string): Promise<boolean> {
  const expected = await challengeOf(secret);
  return CHALLENGE.test(challenge) && sameText(expected, challenge.toLowerCase());
}

/** The hash is over the text of the secret, as UTF-8. */
async function challengeOf(secret: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret));
  return hexOf(new Uint8Array(digest));
}

function hexOf(octets: Uint8Array): string {
  return Array.from(octets, (octet) => octet.toString(16).padStart(2, '0')).join('');
}

/** For texts of one length: looks at every character, whatever the first ones say. */
function sameText(left: string, right: string): boolean {
  let difference = left.length ^ right.length;
  for (let at = 0; at < left.length; at += 1) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
  return difference === 0;
}
