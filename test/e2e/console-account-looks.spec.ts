import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AccountStage, chooseMode } from '../support/account-stage.js';
import { chromiumIsMissing } from '../support/browser.js';
import { DESKTOP, findingsOf, isTooWide, NARROW } from '../support/console-stage.js';

describe.skipIf(chromiumIsMissing)('the pages of an account', () => {
  let account: AccountStage;
  beforeAll(async () => {
    account = await AccountStage.open();
  });
  afterAll(() => account.close());
  afterEach(() => expect(account.stage.complaints).toEqual([]));

  describe.each([
    ['light', DESKTOP],
    ['dark', DESKTOP],
    ['light', NARROW],
    ['dark', NARROW],
  ] as const)('in the %s theme at %o', (colorScheme, viewport) => {
    it.each(['test', 'live'] as const)('have no finding of axe in %s mode, and fit the screen', async (mode) => {
      const page = await account.page('/quickstart', { colorScheme, viewport });
      await chooseMode(page, mode);
      const { baseUrl, demo } = account.stage.harness;
      const pages = ['/quickstart', '/keys', '/brands', `/brands/${demo.brandId}`, '/webhook', '/requests', '/usage'];
      const found: string[] = [];
      for (const each of pages) {
        await page.goto(`${baseUrl}/console${each}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
        for (const finding of await findingsOf(page)) found.push(`${each}: ${finding}`);
        if (await isTooWide(page)) found.push(`${each} is too wide`);
        const folder = process.env['PICTURES'];
        const name = each.slice(1).replaceAll(/_\w+/g, '').replaceAll('/', '-');
        const file = `${name}-${mode}-${colorScheme}-${String(viewport.width)}.png`;
        if (folder !== undefined) await page.screenshot({ path: path.join(folder, file), fullPage: true });
      }
      expect(found).toEqual([]);
    });
  });
});
