import { ERRORS, type ErrorCode } from '../http/errors.js';
import { block, code, escape, page, table } from './page.js';

export const ERROR_CODES: readonly ErrorCode[] = Object.keys(ERRORS).filter(isErrorCode);

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text);
}

/** The page behind `docUrl`: one error, when it happens and what to do. */
export function errorPage(errorCode: ErrorCode): string {
  const { status, message, when, whatToDo } = ERRORS[errorCode];
  return page(
    errorCode,
    `<p><span class="status">HTTP ${status}</span></p>
<p>${escape(message)}</p>
<h2>When</h2><p>${escape(when)}</p>
<h2>What to do</h2><p>${escape(whatToDo)}</p>
<p><a href="/docs#errors">All errors</a></p>`,
  );
}

const ENDPOINTS: readonly (readonly [call: string, does: string])[] = [
  ['POST /v1/verify', 'Opens a verification session for a phone number. Answers 200 with the Session.'],
  ['GET /v1/verify/{id}', 'The Session as it stands. An expired one is 404.'],
  ['DELETE /v1/verify/{id}', 'Cancels a pending session; safe to repeat. Answers 204.'],
];

const CREATE_FIELDS: readonly (readonly [field: string, rule: string])[] = [
  ['phone', 'E.164, a number that can exist.'],
  ['accountId', 'The account of the API key.'],
  ['brandId', 'An active brand of the account.'],
  ['clientChallenge', 'SHA-256 of a secret that the browser keeps, 64 hex digits.'],
  ['webhookUrl', 'Optional. A public https URL; in place of the account’s default.'],
  ['ttl', 'Optional. Seconds until the session expires, 30 to 300; 90 by default.'],
  ['channel', 'Optional. rcs or sms_fallback.'],
  ['allowSmsOtp', 'Optional. Whether a code may be sent by SMS; true by default.'],
  ['metadata', 'Optional. Up to 16 string values of at most 512 characters, echoed verbatim.'],
];

const firstCall = (baseUrl: string): string => `curl --cacert ca.pem ${baseUrl}/v1/verify \\
  -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" \\
  -d '{"phone":"+14155552671","accountId":"acct_…","brandId":"brd_…","clientChallenge":"<64 hex digits>"}'`;

/** The first page: how to call the service, and what it answers. */
export function startPage(publicBaseUrl: string): string {
  const codes = (rows: readonly (readonly [string, string])[]) =>
    rows.map(([name, text]) => [code(name), escape(text)]);
  const errors = ERROR_CODES.map((each) => [
    `<a href="/docs/errors/${each}">${each}</a>`,
    String(ERRORS[each].status),
    escape(ERRORS[each].when),
  ]);
  return page(
    'Verify a phone number',
    `<p>A caller opens a session for a phone number and shows its user the <code>fallbackUri</code>. The user taps it, the phone
sends an SMS, and the session becomes <code>approved</code>: by webhook, and for whoever asks.</p>
<h2>A first call</h2>${block(firstCall(publicBaseUrl))}
<h2>Endpoints</h2>${table(['Call', 'Does'], codes(ENDPOINTS))}
<p>Every call carries <code>Authorization: Bearer &lt;API key&gt;</code> over TLS 1.3. Every answer carries <code>X-Request-Id</code>.</p>
<h2>Fields of a create</h2>${table(['Field', 'Rule'], codes(CREATE_FIELDS))}
<p>Fields that are not listed, and explicit <code>null</code>, are refused.</p>
<h2>Webhooks</h2>
<p>Signed by <a href="https://www.standardwebhooks.com">Standard Webhooks</a> 1.0 with the account’s secret:
<code>webhook-id</code>, <code>webhook-timestamp</code>, <code>webhook-signature</code>. The body is
<code>{"type","timestamp","data"}</code>, and <code>data</code> the Session. Answer 2xx within 15 seconds; anything else is tried again
for a day. The same event may arrive more than once: it keeps its <code>webhook-id</code>.</p>
<h2 id="errors">Errors</h2>
<p>Every error is <code>{"error":{"code","message","field","docUrl"}}</code>; <code>field</code> only where a field offends.</p>
${table(['Code', 'Status', 'When'], errors)}`,
  );
}
