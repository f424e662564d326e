import { ERRORS, type ErrorCode } from '../../http/errors.js';
import { block, code, escape, page, table } from './page.js';

export const ERROR_CODES: readonly ErrorCode[] = Object.keys(ERRORS).filter(isErrorCode);

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text);
}

/** The page behind `docUrl`: one error, when it occurs and how to resolve it. */
export function errorPage(errorCode: ErrorCode, publicBaseUrl: string): string {
  const { status, message, when, whatToDo } = ERRORS[errorCode];
  const docUrl = `${publicBaseUrl}/docs/errors/${errorCode}`;
  return page({
    title: errorCode,
    path: `/docs/errors/${errorCode}`,
    main: `<p><span class="pill">HTTP ${status}</span></p>
<p>${escape(message)}</p>
<h2>When</h2><p>${escape(when)}</p>
<h2>What to do</h2><p>${escape(whatToDo)}</p>
<h2>How it looks</h2>
${block(JSON.stringify({ error: { code: errorCode, message, docUrl } }, null, 2))}
<p>Quote the answer’s <code>X-Request-Id</code> when you ask the operator about it. <a href="/docs/errors">All errors</a></p>`,
  });
}

/** All errors on one page. */
export function errorsPage(): string {
  const rows = ERROR_CODES.map((each) => [
    `<a href="/docs/errors/${each}">${code(each)}</a>`,
    String(ERRORS[each].status),
    escape(ERRORS[each].when),
  ]);
  return page({
    title: 'Errors',
    path: '/docs/errors',
    main: `<p>Every error, the framework’s own included, has this body; <code>field</code> is there only where a field offends
(<code>metadata.orderId</code> for one inside another), and <code>attemptsRemaining</code> with <code>INVALID_CODE</code> alone.</p>
${block('{ "error": { "code": "…", "message": "…", "field": "…", "docUrl": "…" } }')}
<p>Decide by <code>code</code>; <code>message</code> is for people and may change. Codes may be added: treat one that you do not know
by its HTTP status.</p>
${table(['Code', 'Status', 'When'], rows)}`,
  });
}
