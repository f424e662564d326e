/** Binds a session to one browser (specification 4.7). */
export interface Challenge {
  /** 64 hex digits from the browser's random source. It stays in the browser until the confirmation. */
  readonly secret: string;
  /** Hex SHA-256 of the secret's text: the `clientChallenge` of the session. It does not reveal the secret. */
  readonly challenge: string;
}

const SECRET_OCTETS = 32;
const CHALLENGE = /^[0-9a-f]{64}$/i;

/** Creates a secret and its challenge. In a browser this needs an `https:` page or `localhost`, as WebCrypto does. */
export async function createChallenge(): Promise<Challenge> {
  const secret = hexOf(crypto.getRandomValues(new Uint8Array(SECRET_OCTETS)));
  return { secret, challenge: await challengeOf(secret) };
}

/**
 * Whether the challenge was made from this secret, in constant time. False for an invalid challenge; hex in either
 * case is accepted. Not a proof by itself: the session must be approved too.
 */
export async function verifySecret(secret: string, challenge: string): Promise<boolean> {
  const expected = await challengeOf(secret);
  return CHALLENGE.test(challenge) && sameText(expected, challenge.toLowerCase());
}

/** Hashes the text of the secret, as UTF-8. */
async function challengeOf(secret: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret));
  return hexOf(new Uint8Array(digest));
}

function hexOf(octets: Uint8Array): string {
  return Array.from(octets, (octet) => octet.toString(16).padStart(2, '0')).join('');
}

/** Compares every character of two texts of one length, in constant time. */
function sameText(left: string, right: string): boolean {
  let difference = left.length ^ right.length;
  for (let at = 0; at < left.length; at += 1) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
  return difference === 0;
}
