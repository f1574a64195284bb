import type { NotifyCause } from '../../core/notify/notify-cause.ts';
import { mostListed, type NotifyMessage } from './notify-payload.ts';

/** Slack accepts this many characters in a block. Each line has fewer, although escaping may turn a character into five. */
const longestBlock = 3_000;
const longestName = 80;
const longestAddress = 500;
const longestTitle = 200;
const longestReason = 400;
const longestOfSeveral = 120;

interface SlackMessage {
  readonly text: string;
  readonly blocks: readonly unknown[];
  readonly [option: string]: unknown;
}

/**
 * A message as the incoming webhooks of Slack and of compatible services take it. What must hold: the text of an issue is
 * text. It forms no link, mentions no one and opens no formatting that another line would close; the only link is that
 * to the issue or to the dashboard, made of an address that Baton has.
 */
export function slackMessage({ project, causes, dashboardUrl }: NotifyMessage): SlackMessage {
  const [first, ...others] = causes;
  const lines = others.length === 0 ? linesOf(first, project) : linesOfSeveral(causes, project);
  const dashboard = linkTo(dashboardUrl, 'Open the dashboard');
  const text = [...lines, ...(dashboard === null ? [] : [dashboard])].join('\n');
  return {
    text,
    blocks: (text.length <= longestBlock ? [text] : text.split('\n')).map(section),
    // Keeps Slack from turning text into a mention or a link.
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
  };
}

function section(text: string): unknown {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
}

const words: Readonly<Record<NotifyCause['event'], string>> = {
  needs_you: 'needs you',
  held: 'is held',
  limit_reached: 'reached a limit',
  finished: 'is finished',
  unhealthy: 'has a problem',
};

function linesOf(cause: NotifyCause, project: string): string[] {
  const { event, issue, reason, actions } = cause;
  const head = `*${plain(project, longestName)}*: ${subject(cause)} ${words[event]}`;
  const title = issue?.title ?? null;
  return [
    title === null ? head : `${head}: ${plain(title, longestTitle)}`,
    plain(reason, longestReason),
    ...actions.slice(0, 3).map(code),
  ];
}

function linesOfSeveral(causes: readonly NotifyCause[], project: string): string[] {
  const more = causes.length - mostListed;
  return [
    `*${plain(project, longestName)}*: ${causes.length} notifications`,
    ...causes
      .slice(0, mostListed)
      .map((cause) => `• ${subject(cause)} ${words[cause.event]}: ${plain(cause.reason, longestOfSeveral)}`),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

function subject({ issue, event }: NotifyCause): string {
  if (issue === null) return event === 'limit_reached' ? 'the day' : 'Baton';
  return linkTo(issue.url, issue.identifier) ?? plain(issue.identifier, longestName);
}

/** Null for an address that a browser would not open, or that is too long for a message. */
function linkTo(address: string | null, label: string): string | null {
  const url = address === null ? null : URL.parse(address);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null;
  const target = url.href.replaceAll('|', '%7C').replaceAll('<', '%3C').replaceAll('>', '%3E').replaceAll('&', '&amp;');
  return target.length <= longestAddress ? `<${target}|${plain(label, longestName)}>` : null;
}

function code(line: string): string {
  return line.includes('`') ? plain(line, longestReason) : `\`${escaped(line.slice(0, longestReason))}\``;
}

/** Escapes foreign text, so that Slack makes no link, mention or code block of it. */
function plain(text: string, longest: number): string {
  const short = text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`;
  return escaped(short)
    .replaceAll(/@(?=[\p{L}\p{N}])/gu, `@${invisible}`)
    .replaceAll(/:(?=\/\/)/g, `:${invisible}`)
    .replaceAll(/\](?=[([])/g, `]${invisible}`)
    .replaceAll(/\b(www|mailto)(?=[.:])/gi, `$1${invisible}`)
    .replaceAll('`', 'ˋ')
    .replaceAll('|', '¦');
}

/** A zero-width character that separates its neighbours. */
const invisible = '\u200B';

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
