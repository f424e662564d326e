/** A row of a table in Markdown. */
export const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

/** A number with its thousands set apart. */
export const count = (value: number): string => value.toLocaleString('en-US');
