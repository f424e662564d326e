// Text for a terminal.

/**
 * Control characters, those that change the direction of text, and the line breaks of Unicode. A terminal executes
 * them: they could hide or forge lines, set the title or write to the clipboard.
 */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const KEPT = ['\n', '\t'];
/** A longer line is shown in pieces. */
const MAX_LINE_CHARACTERS = 64 * 1024;

/** The text with these as `\u001b`, which JSON reads as the same character. Line feeds and tabs are kept. */
export const printable = (text) =>
  text.replace(CONTROLS, (character) =>
    KEPT.includes(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Writes what a stream brings to standard error, line by line, as `printable` shows it. */
export function showLines(stream) {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) process.stderr.write(`${printable(line)}\n`);
    if (rest.length <= MAX_LINE_CHARACTERS) return;
    process.stderr.write(printable(rest));
    rest = '';
  });
  stream.on('end', () => {
    if (rest !== '') process.stderr.write(`${printable(rest)}\n`);
  });
}
