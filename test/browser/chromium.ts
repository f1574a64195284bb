import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';

/** Its path on Debian and others. */
const usual = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The program: `BATON_CHROMIUM` if it is set, otherwise the machine's own. */
function findChromium(): string | { readonly missing: string } {
  const { BATON_CHROMIUM } = process.env;
  if (BATON_CHROMIUM)
    return existsSync(BATON_CHROMIUM) ? BATON_CHROMIUM : { missing: `BATON_CHROMIUM=${BATON_CHROMIUM} is not there.` };
  const found = usual.find((file) => existsSync(file));
  return found ?? { missing: 'No Chromium is at hand. Install the package chromium, or name one by BATON_CHROMIUM.' };
}

/** A browser test starts daemons and agents, on two busy cores. */
const storyTest = { timeout: 240_000 };

/**
 * A suite in a real browser, which its tests share. Without a browser the suite is skipped with the reason; if one
 * is required, by `CI` or `BATON_CHROMIUM`, it fails instead.
 */
export function describeInChromium(title: string, suite: (browser: () => Browser) => void): void {
  const found = findChromium();
  const isWanted = Boolean(process.env.CI || process.env.BATON_CHROMIUM);
  if (typeof found !== 'string' && isWanted) throw new Error(found.missing);
  // The reporter shows how many tests are skipped, not which.
  if (typeof found !== 'string') console.warn(`skipped: ${title}. ${found.missing}`);
  describe.skipIf(typeof found !== 'string')(title, storyTest, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      // A container has no namespaces for its sandbox; the pages shown here belong to this repository.
      if (typeof found === 'string')
        browser = await chromium.launch({
          executablePath: found,
          args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
        });
    }, 60_000);
    afterAll(() => browser?.close());
    suite(() => {
      if (browser === undefined) throw new Error('the browser is not open yet');
      return browser;
    });
  });
}
