import { type Browser, chromium } from 'playwright-core';
import { isMissing } from './foreign-stack.js';
import { findProgram } from './programs.js';

const PROGRAM = findProgram('chromium');

/** For `describe.skipIf`. */
export const chromiumIsMissing = isMissing('pages in a browser', 'chromium', PROGRAM !== null);

/** Starts a headless Chromium. Its sandbox does not work for root. */
export function openBrowser(): Promise<Browser> {
  if (PROGRAM === null) throw new Error('there is no chromium on PATH');
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: PROGRAM, args: [...args, '--disable-dev-shm-usage'] });
}
