import { describe, expect, it } from 'vitest';
import { ERRORS } from '../../http/errors.js';
import { ERROR_CODES, errorPage, errorsPage, isErrorCode } from './error-pages.js';
import { escape } from './page.js';

describe('the pages of errors', () => {
  it('exist for every error, with its status and its resolution', () => {
    expect(ERROR_CODES).toEqual(Object.keys(ERRORS));
    for (const code of ERROR_CODES) {
      const html = errorPage(code, 'https://verify.example');
      expect(html).toContain(`<h1>${code}</h1>`);
      expect(html).toContain(`HTTP ${ERRORS[code].status}`);
      expect(html).toContain(escape(ERRORS[code].whatToDo));
      expect(html).toContain(`https://verify.example/docs/errors/${code}`);
    }
  });

  it('are all linked from one page', () => {
    for (const code of ERROR_CODES) expect(errorsPage()).toContain(`href="/docs/errors/${code}"`);
  });

  it('exist for error codes only', () => {
    expect(isErrorCode('NOT_FOUND')).toBe(true);
    for (const word of ['toString', '__proto__', 'not_found', '']) expect(isErrorCode(word)).toBe(false);
  });

  it('escape text', () => {
    expect(escape('<a href="x">&')).toBe('&lt;a href=&quot;x&quot;&gt;&amp;');
  });
});
