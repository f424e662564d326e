/** What `numeric(14, 6)` holds, written as JSON and people do: no sign, no exponent, no needless zero in front. */
const USD = /^(?:0|[1-9][0-9]{0,7})(?:\.[0-9]{1,6})?$/;
const CENTS = 2;

/** Whether a text is an amount that can be stored: 0 or more US dollars, below 100,000,000, six decimals at most. */
export function isUsd(text: string): boolean {
  return USD.test(text);
}

/** An amount as it is shown: as many decimals as it needs, cents at least (`0.0079`, `10.00`). Takes what SQL renders. */
export function renderUsd(numeric: string): string {
  const [whole = '0', decimals = ''] = numeric.split('.', 2);
  return `${whole}.${decimals.replace(/0+$/, '').padEnd(CENTS, '0')}`;
}
