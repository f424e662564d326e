export interface SmsRequest {
  /** E.164 with its plus, or a short code. */
  readonly number: string;
  readonly text: string;
}
export function parseSmsUri(uri: string): SmsRequest | null;
export function smsUriOfHash(hash: string): string | null;
