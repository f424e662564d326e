import { describe, expect, it } from 'vitest';
import { ERRORS } from '../http/errors.js';
import { escape } from './page.js';
import { ERROR_CODES, errorPage, isErrorCode, startPage } from './pages.js';

describe('the pages', () => {
  it('have one for every error, with its status and what to do', () => {
    expect(ERROR_CODES).toEqual(Object.keys(ERRORS));
    for (const code of ERROR_CODES) {
      const html = errorPage(code);
      expect(html).toContain(`<h1>${code}</h1>`);
      expect(html).toContain(`HTTP ${ERRORS[code].status}`);
      expect(html).toContain(escape(ERRORS[code].whatToDo));
    }
  });

  it('link to every error from the first one', () => {
    const html = startPage('https://localhost:8443');
    for (const code of ERROR_CODES) expect(html).toContain(`href="/docs/errors/${code}"`);
    expect(html).toContain('https://localhost:8443/v1/verify');
  });

  it('hold no script and load nothing', () => {
    for (const html of [startPage('https://x'), errorPage('NOT_FOUND')])
      expect(html).not.toMatch(/<script|src=|@import|url\(/);
  });

  it('know codes from other words', () => {
    expect(isErrorCode('NOT_FOUND')).toBe(true);
    for (const word of ['toString', '__proto__', 'not_found', '']) expect(isErrorCode(word)).toBe(false);
  });

  it('escape text', () => {
    expect(escape('<a href="x">&')).toBe('&lt;a href=&quot;x&quot;&gt;&amp;');
  });
});
