import { isSupportedCountry } from 'libphonenumber-js/max';

/** Whether a text is the ISO 3166-1 alpha-2 code of a country with telephone numbers: `GB`, never `UK` or `gb`. */
export function isCountry(text: string): boolean {
  return isSupportedCountry(text);
}
