/** The number of characters that `maskPhone` shows at the beginning of a phone with a plus. */
const SHOWN_CHARACTERS = 4;

/**
 * The prefix of a block of numbers for roles that see masked phones. A block is a phone without its last four digits:
 * together with the masked phone of the session, which shows the last two, all but two digits would be known.
 */
export const shortPrefix = (prefix: string): string => prefix.slice(0, SHOWN_CHARACTERS);
