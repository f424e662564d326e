/** The texts of a brand that people see. */
export interface BrandTexts {
  readonly name: string;
  readonly slug: string;
  readonly instruction: string;
}

/** One SMS in the GSM 7-bit alphabet. */
export const SMS_CHARACTERS = 160;
const EXAMPLE_TOKEN = 'E3W89XYF3F73XMN7';
const EXAMPLE_CODE = '074870';
/** Characters that take two places in that alphabet (3GPP TS 23.038, 6.2.1.1). */
const DOUBLE = /[\f^{}\\[~\]|€]/g;

/** The title of the card (apps/gateway, card-message.ts). */
export const cardTitle = ({ name }: BrandTexts): string => `Sign in to ${name}?`;

/** The text that the phone of a user sends. */
export const smsText = ({ slug, instruction }: BrandTexts): string => `AUTH-${slug}-${EXAMPLE_TOKEN}\n${instruction}`;

/** The text of a code. */
export const codeText = ({ name }: BrandTexts, domain: string | null): string => {
  const text = `${EXAMPLE_CODE} is your ${name} code. Do not share it.`;
  return domain === null ? text : `${text}\n@${domain} #${EXAMPLE_CODE}`;
};

/** The places that a text takes in an SMS, if its alphabet is GSM 7-bit. The server decides. */
export const placesOf = (text: string): number => Array.from(text).length + (text.match(DOUBLE)?.length ?? 0);
