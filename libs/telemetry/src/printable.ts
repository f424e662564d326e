/**
 * Control characters, those that change the direction of text, and the line breaks of Unicode. A terminal executes
 * them: they could hide or forge lines, set the title or write to the clipboard.
 */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const KEPT = ['\n', '\t'];

/** A text for a terminal: these characters as `\u001b`. Line feeds and tabs are kept. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (character) =>
    KEPT.includes(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
