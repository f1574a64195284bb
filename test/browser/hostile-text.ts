import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** If the page treated one of these as more than text, it would set `hit`, send a request elsewhere, or open something. */
export const attacks = [
  '<script>window.hit = 1</script>',
  '<img src=x onerror="window.hit=1">',
  '<svg onload=window.hit=1>',
  '<iframe srcdoc="<script>parent.hit=1</script>"></iframe>',
  '<a href="javascript:window.hit=1">press</a>',
  '<form action="https://elsewhere.invalid/"><button>send</button></form>',
  '<meta http-equiv="refresh" content="0;url=https://elsewhere.invalid/">',
  '<link rel="stylesheet" href="https://elsewhere.invalid/x.css">',
  '<style>body { display: none }</style>',
  '<base href="https://elsewhere.invalid/">',
  '"><script>window.hit=1</script>',
];
/** Characters that reverse a line or are invisible, and escape sequences that set colours, a title and a link. */
export const tricks = 'abc\u202Efed\u202C zero\u200B\u2060width \u2066isolate\u2069 \uFEFF soft\u00ADhyphen \u{E0041}';
export const escapes = '\u001B[31mred\u001B]0;title\u0007\u001B]8;;https://elsewhere.invalid/\u0007link \u009B2J';
const raw = [
  '\u202E',
  '\u202C',
  '\u2066',
  '\u2069',
  '\u200B',
  '\u2060',
  '\uFEFF',
  '\u00AD',
  '\u{E0041}',
  '\u0007',
  '\u001B',
  '\u009B',
];

/** Fails if text of a stranger became more than text on the page, or hides something. */
export async function expectHarmlessPage(page: Page, where: string): Promise<void> {
  const found = await page.evaluate(`(${lookAround})(${JSON.stringify(raw)})`);
  expect({ where, found }).toEqual({ where, found: { hit: false, elements: [], links: [], handlers: [], hidden: [] } });
}

/** Runs in the page: finds elements and attributes that it must not have. */
const lookAround = `(raw) => {
  const all = [...document.querySelectorAll('body, body *')];
  const attributes = all.flatMap((element) => [...element.attributes].map(({ name, value }) => ({ element, name, value })));
  const isOdd = (text) => raw.some((each) => text.includes(each));
  const texts = all.flatMap(({ childNodes }) => [...childNodes].filter((node) => node instanceof Text));
  const foreign = 'main :is(script, img, iframe, object, embed, form[action], meta, link, style, base)';
  return {
    hit: 'hit' in globalThis,
    elements: [...document.querySelectorAll(foreign)].map(({ outerHTML }) => outerHTML),
    links: [...document.querySelectorAll('a')]
      .filter(({ protocol }) => !['http:', 'https:', 'mailto:', 'vscode:'].includes(protocol))
      .map(({ outerHTML }) => outerHTML),
    handlers: attributes.filter(({ name }) => name.startsWith('on')).map(({ name }) => name),
    // The value of a field is only sent, not shown.
    hidden: [
      ...[document.title, ...texts.map(({ data }) => data)].filter(isOdd),
      ...attributes.filter(({ name, value }) => name !== 'value' && isOdd(value)).map(({ element }) => element.outerHTML),
    ].map((text) => text.slice(0, 300)),
  };
}`;
