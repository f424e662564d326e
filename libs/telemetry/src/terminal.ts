/** Control and format characters (terminal escapes, C1 controls, bidirectional overrides) except the line feed. */
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/**
 * A text that may hold values of the database or of the environment, for the terminal of an operator: lines stay, and
 * characters that a terminal would act on are written as `\u{1b}`.
 */
export function terminalText(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`);
}
