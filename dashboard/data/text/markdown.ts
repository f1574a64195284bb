import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { type ComponentChild, h } from 'preact';
import { harmlessText } from '../../../src/core/text/harmless-line.ts';

/**
 * Markdown from any author, as elements. What must hold:
 *
 * - Nothing of it becomes markup of the page unless this file makes it: micromark's output is parsed in a document that
 *   is not shown, and only elements of the list below are built again, without their attributes.
 * - A link goes to http, https or mailto, opens in a new tab, and sends no referrer.
 * - An image is not loaded, because its server would see the request: it becomes a link with its description.
 */
export function markdownToElements(source: string): readonly ComponentChild[] {
  const html = micromark(source, { extensions: [gfm()], htmlExtensions: [gfmHtml()] });
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  return children(body);
}

/** Headings of an issue rank below those of the screen. */
const elements: Readonly<Record<string, string>> = {
  H1: 'h4',
  H2: 'h4',
  H3: 'h5',
  H4: 'h5',
  H5: 'h6',
  H6: 'h6',
  P: 'p',
  BR: 'br',
  HR: 'hr',
  EM: 'em',
  STRONG: 'strong',
  DEL: 'del',
  CODE: 'code',
  PRE: 'pre',
  SUP: 'sup',
  BLOCKQUOTE: 'blockquote',
  UL: 'ul',
  OL: 'ol',
  LI: 'li',
  SECTION: 'section',
  TABLE: 'table',
  THEAD: 'thead',
  TBODY: 'tbody',
  TR: 'tr',
  TH: 'th',
  TD: 'td',
};

function children(node: Node): readonly ComponentChild[] {
  return [...node.childNodes].map(build);
}

function build(node: Node): ComponentChild {
  if (node instanceof Text) return harmlessText(node.data);
  if (!(node instanceof Element)) return null;
  if (node.tagName === 'A') return link(node.getAttribute('href'), children(node));
  if (node.tagName === 'IMG')
    return link(node.getAttribute('src'), [`image: ${harmlessText(node.getAttribute('alt') || 'no description')}`]);
  if (node.tagName === 'INPUT') return node.hasAttribute('checked') ? '☑ ' : '☐ ';
  const name = elements[node.tagName];
  if (name === undefined) return h('span', null, ...children(node));
  // Focusable, so that the keyboard can scroll long lines.
  if (node.tagName === 'PRE') return h('pre', { tabIndex: 0 }, ...children(node));
  const start = node.tagName === 'OL' ? Number(node.getAttribute('start') ?? 1) : null;
  return h(name, start === null ? null : { start }, ...children(node));
}

const allowed: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

function link(address: string | null, content: readonly ComponentChild[]): ComponentChild {
  const url = address !== null && URL.canParse(address) ? new URL(address) : null;
  if (url === null || !allowed.has(url.protocol)) return h('span', null, ...content);
  return h('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer', title: url.href }, ...content);
}
