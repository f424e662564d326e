/** Longer texts are not shown; the paths of secrets and certificates are shorter. */
const LONGEST_SHOWN_PATH = 255;

const PATH = /^\.{0,2}\/(?!\/)[A-Za-z0-9._/+-]*$/;
/**
 * A key in base64 may begin with a slash too; unlike most paths it mixes upper and lower case between two slashes.
 */
const BASE64 = /^(?=.*(?:[a-z][^/]*[A-Z]|[A-Z][^/]*[a-z]))[A-Za-z0-9_/+-]{20,}$/;

/**
 * The value of a variable that names a file, for an error message: quoted if it can only be a path, else without the
 * value, because the secret itself is sometimes put in place of its file's name. Reads as `is …, which` or `has …
 * that`, before a fault such as `is an empty file`.
 *
 * Only a text of at most 255 characters is shown that begins with `/`, `./` or `../`, consists of letters, digits and
 * `._-+/`, and does not look like base64. A path that is not shown is still read.
 */
export function describeFilePath(text: string): string {
  const isShown = text.length <= LONGEST_SHOWN_PATH && PATH.test(text) && !BASE64.test(text);
  return isShown ? `is ${JSON.stringify(text)}, which` : 'has a value (not shown: it may be the secret itself) that';
}
