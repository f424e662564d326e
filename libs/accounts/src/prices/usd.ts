/** The values of `numeric(14, 6)` in JSON notation: no sign, no exponent, no unnecessary leading zero. */
const USD = /^(?:0|[1-9][0-9]{0,7})(?:\.[0-9]{1,6})?$/;
const CENTS = 2;

/** Whether a text is a storable amount: 0 or more US dollars, below 100,000,000, at most six decimals. */
export function isUsd(text: string): boolean {
  return USD.test(text);
}

/** An amount for display: as many decimals as needed, at least cents (`0.0079`, `10.00`). Accepts SQL's rendering. */
export function renderUsd(numeric: string): string {
  const [whole = '0', decimals = ''] = numeric.split('.', 2);
  return `${whole}.${decimals.replace(/0+$/, '').padEnd(CENTS, '0')}`;
}
